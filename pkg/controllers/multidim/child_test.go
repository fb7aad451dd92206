// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// What becomes of a FederatedHPA that is there: it follows the mode whatever else is the matter, and goes with the goals.
func TestChildFollows(t *testing.T) {
	observe := func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModeObserve }
	pause := func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModePaused }
	noGoals := func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals = nil }
	unclear := func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals.Metrics[0].Resource.Name = "ephemeral-storage" }
	elsewhere := func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.ScaleTargetRef.Name = "gone" }
	widen := func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Constraints.Global.MaxReplicas = 90 }
	type edits = []func(*v1alpha1.MultidimPodAutoscaler)
	tests := map[string]struct {
		edits   edits
		claimed bool
		want    string // its mode and maxReplicas; empty: it is deleted
	}{
		"observed, and without goals":           {edits{observe, noGoals}, false, "Observe 10"},
		"paused, and without goals":             {edits{pause, noGoals}, false, "Paused 10"},
		"paused, and others are there":          {edits{pause, widen}, true, "Paused 10"},
		"observed, and others are there":        {edits{observe, widen}, true, "Observe 10"},
		"active, and others are there":          {edits{widen}, true, " 10"},
		"without goals, and others are there":   {edits{noGoals}, true, ""},
		"observed, and the goals are not clear": {edits{observe, unclear}, false, "Observe 10"},
		"observed, and the workload is gone":    {edits{observe, elsewhere}, false, "Observe 10"},
		"active, and the workload is gone":      {edits{elsewhere, widen}, false, " 10"},
		"active":                                {edits{widen}, false, " 90"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object(withGoal))
			w.pass(2)
			if tc.claimed {
				theirs := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "theirs"}}
				theirs.Spec.ScaleTargetRef = object().Spec.ScaleTargetRef
				if err := w.hub.Create(t.Context(), theirs); err != nil {
					t.Fatal(err)
				}
			}
			w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
				for _, edit := range tc.edits {
					edit(m)
				}
			})
			w.pass(1)
			got := ""
			if f := w.child(); f != nil {
				got = string(f.Spec.Mode) + " " + toText(f.Spec.MaxReplicas)
			}
			same(t, "the FederatedHPA", tc.want, got)
			same(t, "what is written once more", 0, len(withoutStatus(w.pass(1))))
		})
	}
}

// Of two MultidimPodAutoscalers on one workload the older works, though the younger was first to have a FederatedHPA: that goes,
// unless nothing may be written.
func TestYoungerYields(t *testing.T) {
	named := func(name string, at time.Time) *v1alpha1.MultidimPodAutoscaler {
		return object(withGoal, func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Name, m.UID, m.CreationTimestamp = name, uid("uid-of-"+name), metav1.Time{Time: at}
		})
	}
	younger, older := named("web", noon), named("old", noon.Add(-time.Hour))
	w := newWorld(t, younger)
	w.pass(2)
	if err := w.hub.Create(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModeObserve })
	w.pass(1)
	same(t, "mode of the younger's", v1alpha1.ModeObserve, w.child().Spec.Mode)
	in := situation{Object: older}
	w.onHub(t.Context(), &in)
	same(t, "claims on the older", 0, len(in.claims))
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = "" })
	same(t, "requests", []string{"delete FederatedHPA"}, withoutStatus(w.pass(1)))
	if err := w.hub.Delete(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	same(t, "requests once the older is gone", []string{"create FederatedHPA"}, withoutStatus(w.pass(1)))
}

// The FederatedHPA selects its clusters by the decision that the MultidimPodAutoscaler names, for as long as it does.
func TestChildIsPlacedAlike(t *testing.T) {
	w := newWorld(t, object(withGoal))
	decision := func(names ...string) string {
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Annotations = nil
			for _, name := range names {
				m.Annotations = map[string]string{placement.DecisionAnnotation: name, "theirs": "too"}
			}
		})
		w.pass(2)
		named, found := w.child().Annotations[placement.DecisionAnnotation]
		return fmt.Sprint(named, found, len(w.child().Annotations))
	}
	w.Fleet.Decisions = &placement.Decisions{Hub: w.hub, ClusterOf: func(_, name string) (string, bool) { return name, true }}
	got := []string{decision(), decision("web"), decision("other"), decision()}
	same(t, "decisions", []string{"false 0", "webtrue 1", "othertrue 1", "false 0"}, got)
	same(t, "what is written once more", 0, len(withoutStatus(w.pass(1))))
}

// A FederatedHPA of somebody else says nothing of this workload's replicas.
func TestStrangersReplicas(t *testing.T) {
	stranger := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	stranger.Spec.ScaleTargetRef.Name = "other"
	stranger.Status.DesiredReplicas = 50
	w := newWorld(t, object(withGoal), stranger)
	w.pass(2)
	same(t, "recommendation", "app 126m 250Mi", recommendedFor(w.object().Status.Recommendation))
	in := situation{Object: w.object(), child: w.child()}
	in.child.Status.Clusters = []v1alpha1.ClusterStatus{{Name: "east", AssignedReplicas: new(int32(7))}}
	same(t, "assigned by a stranger", 0, in.assigned("east"))
	in.child.OwnerReferences = []metav1.OwnerReference{{UID: in.Object.UID, Controller: new(true)}}
	same(t, "assigned by ours", 7, in.assigned("east"))
	same(t, "assigned elsewhere", 0, in.assigned("west"))
}

// Nothing is written to a FederatedHPA that is being deleted; the next one is made once it is gone.
func TestChildBeingDeleted(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(2)
	f := w.child()
	f.Finalizers = []string{"example.com/wait"}
	if err := w.hub.Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := w.hub.Delete(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Constraints.Global.MaxReplicas = 90 })
	same(t, "requests", 0, len(withoutStatus(w.pass(1))))
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals = nil })
	same(t, "requests without goals", 0, len(withoutStatus(w.pass(1))))
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { withGoal(m) })
	f = w.child()
	f.Finalizers = nil
	if err := w.hub.Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	same(t, "requests once it is gone", []string{"create FederatedHPA"}, withoutStatus(w.pass(1)))
}

// A conflict comes again at once, and is no fault of the spec; another error is one.
func TestChildNotWritten(t *testing.T) {
	refused := errors.New("admission webhook denied the request")
	for name, tc := range map[string]struct {
		err   error
		want  string
		state v1alpha1.MultidimPodAutoscalerState
	}{
		"conflict": {apierrors.NewConflict(schema.GroupResource{Resource: "federatedhpas"}, "web", refused), "", v1alpha1.MultidimActive},
		"refusal": {refused, "True FederatedHPANotWritten: creating FederatedHPA shop/web: admission webhook denied the request",
			v1alpha1.MultidimFailing},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object(withGoal))
			w.Hub = interceptor.NewClient(w.hub, interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return tc.err },
			})
			for range 2 {
				if _, err := w.again(w.reconcile(t.Context(), w.defaulted(), w.memories.Of(w.object()))); (err == nil) != (name == "conflict") {
					t.Errorf("error %v", err)
				}
				w.clock.SetTime(w.clock.Now().Add(time.Minute))
			}
			m := w.object()
			same(t, "unsupported", tc.want, words(m, v1alpha1.MultidimConfigUnsupported))
			same(t, "state", tc.state, m.Status.Summary.State)
			notWritten := slices.ContainsFunc(w.told(),
				func(e string) bool { return len(e) > 30 && e[:30] == "Warning FederatedHPANotWritten"[:30] })
			same(t, "Event", name == "refusal", notWritten)
		})
	}
}

// A FederatedHPA that cannot be deleted is retried, and that is told; one that is gone already is deleted.
func TestChildNotDeleted(t *testing.T) {
	refused := errors.New("admission webhook denied the request")
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "federatedhpas"}, "web")
	for want, answer := range map[string]error{
		"True FederatedHPANotWritten: deleting FederatedHPA shop/web: admission webhook denied the request": refused, "": gone,
	} {
		w := newWorld(t, object(withGoal))
		w.pass(1)
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals = nil })
		w.Hub = interceptor.NewClient(w.hub, interceptor.Funcs{
			Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return answer },
		})
		if err := w.reconcile(t.Context(), w.defaulted(), w.memories.Of(w.object())); (err == nil) != (want == "") {
			t.Errorf("%v: error %v", answer, err)
		}
		same(t, "unsupported", want, words(w.object(), v1alpha1.MultidimConfigUnsupported))
	}
}

// Utilizations are of the base, whatever a member measures.
func TestUtilizations(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(1)
	p := plan{situation: situation{Object: w.defaulted(), child: w.child()}}
	measured := func(amount string) []autoscalingv2.MetricStatus {
		m := autoscalingv2.MetricStatus{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{Name: "cpu"}}
		m.Resource.Current.AverageValue = quantity(amount)
		return []autoscalingv2.MetricStatus{m}
	}
	for amount, want := range map[string]int32{"250m": 25, "0": 0, "900000000000": 1<<31 - 1} {
		same(t, amount, want, *p.utilizations(measured(amount))[0].Resource.Current.AverageUtilization)
	}
}

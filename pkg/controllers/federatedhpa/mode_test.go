// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

func in(mode v1alpha1.AutoscalingMode) func(*v1alpha1.FederatedHPASpec) {
	return func(s *v1alpha1.FederatedHPASpec) { s.Mode = mode }
}

// acting is that condition, and the state, in one line.
func acting(w *world) string {
	s := w.object().Status
	c := summary.Condition(&s, v1alpha1.Acting)
	return string(s.Summary.State) + " " + string(c.Status) + " " + c.Reason + ": " + c.Message
}

func TestObserve(t *testing.T) {
	tests := map[string]struct {
		world  *world
		writes func(*world) any
		would  string
		wants  int32
		before any
		after  any
	}{
		"the hub is told": {
			world: onHub(t), writes: func(w *world) any { return w.hub.workloads[web].Writes }, before: []int32(nil), after: []int32{18},
			would: "Observing False Observe: spec.mode is Observe: the workload would go from 10 to 18 replicas",
			wants: 18,
		},
		"each cluster is told": {
			world: inMembers(t, map[string]int32{"a": 4, "b": 4}, by("StaticWeighted")), writes: func(w *world) any { return w.runs() },
			before: map[string]int32{"a": 4, "b": 4}, after: map[string]int32{"a": 8, "b": 8},
			would: "Observing False Observe: spec.mode is Observe: the workload would go from 8 to 16 replicas, " +
				"cluster a from 4 to 8, cluster b from 4 to 8",
			wants: 16,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := tc.world
			w.edit(in(v1alpha1.ModeObserve))
			w.wants(tc.wants)
			if err := w.reconcileN(3); err != nil {
				t.Fatal(err)
			}
			same(t, "written while it observes", tc.before, tc.writes(w))
			same(t, "acting", tc.would, acting(w))
			same(t, "desired", tc.wants, w.object().Status.DesiredReplicas)
			same(t, "heard", nil, w.Heard())
			w.edit(in(v1alpha1.ModeActive))
			_ = w.reconcileN(1)
			same(t, "written when it acts", tc.after, tc.writes(w))
			same(t, "acting", "Active True Active: what is decided is carried out", acting(w))
		})
	}
}

// Replicas that would only move between clusters stay where they are, too.
func TestObserveMovesNothing(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("StaticWeighted", atMost("a", 2), weight("b", 1)))
	w.edit(in(v1alpha1.ModeObserve))
	w.wants(8)
	_ = w.reconcileN(3)
	same(t, "runs while it observes", map[string]int32{"a": 4, "b": 4}, w.runs())
	same(t, "acting", "Observing False Observe: spec.mode is Observe: the workload would go on with its 8 replicas, "+
		"cluster a from 4 to 2, cluster b from 4 to 6", acting(w))
	w.edit(in(""))
	_ = w.reconcileN(1)
	same(t, "runs when it acts", map[string]int32{"a": 2, "b": 6}, w.runs())
}

func TestPaused(t *testing.T) {
	w := onHub(t)
	w.edit(in(v1alpha1.ModePaused))
	w.wants(18)
	_ = w.reconcileN(3)
	same(t, "written", nil, w.hub.workloads[web].Writes)
	same(t, "acting", "Paused False Paused: spec.mode is Paused: nothing is decided", acting(w))
	same(t, "ScalingActive", "Paused", summary.Condition(&w.object().Status, autoscalingv2.ScalingActive).Reason)
	same(t, "asked of the hub's metrics", 0, len(w.asked))
	same(t, "the generation observed", w.object().Generation, *w.object().Status.ObservedGeneration)
	same(t, "writes of the status", 1, w.hub.StatusWrites)
	w.edit(in(""))
	_ = w.reconcileN(1)
	same(t, "written when it acts", []int32{18}, w.hub.workloads[web].Writes)
	same(t, "ScalingActive", "ValidMetricFound", summary.Condition(&w.object().Status, autoscalingv2.ScalingActive).Reason)
}

// To leave distributed mode takes writes to members; to delete the object is another matter.
func TestNothingLeavesDistributedModeUnlessItActs(t *testing.T) {
	for _, mode := range []v1alpha1.AutoscalingMode{v1alpha1.ModeObserve, v1alpha1.ModePaused} {
		w := onHub(t)
		w.hub.Objects[web].Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer}
		w.edit(in(mode))
		_ = w.reconcileN(2)
		same(t, string(mode)+": asked of the other mode", nil, w.other.did)
		same(t, string(mode)+": written", nil, w.hub.workloads[web].Writes)
		w.hub.Objects[web].DeletionTimestamp = &metav1.Time{Time: w.Clock.Now()}
		_ = w.reconcileN(1)
		same(t, string(mode)+": asked of the other mode when it is deleted", []string{"reconcile web"}, w.other.did)
	}
}

// A schema that drops the mode does not make the object act.
func TestModeThatIsCut(t *testing.T) {
	w := onHub(t)
	w.edit(in(v1alpha1.ModeObserve))
	w.wants(18)
	_ = w.reconcileN(1)
	w.hub.Objects[web].ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply,
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:mode":{}}}`)}}
	w.hub.Objects[web].Spec.Mode = ""
	w.aged()
	_ = w.reconcileN(8)
	same(t, "written", nil, w.hub.workloads[web].Writes)
	same(t, "mode", v1alpha1.ModeObserve, w.object().Spec.Mode)
}

// What only observes may stand beside whoever scales the workload, and decides as if it were alone. Once it acts, it is in the way.
func TestObserveBesideALiveAutoscaler(t *testing.T) {
	w := onHub(t)
	w.hub.hpas = append(w.hub.hpas, federatedhpatest.HPA("live", func(*autoscalingv2.HorizontalPodAutoscaler) {}))
	w.members["west"].autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
	twin := w.object()
	twin.Name, twin.UID = "twin", "twin"
	w.hub.Put(twin)
	w.edit(in(v1alpha1.ModeObserve))
	w.wants(18)
	_ = w.reconcileN(2)
	same(t, "acting", "Observing False Observe: spec.mode is Observe: the workload would go from 10 to 18 replicas; in its way once it acts: "+
		"FederatedHPA shop/twin, HorizontalPodAutoscaler shop/live, "+
		"HorizontalPodAutoscaler shop/own in cluster west", acting(w))
	same(t, "explained", int32(18), w.object().Status.Explanation.DesiredReplicas)
	same(t, "written", []int32(nil), w.hub.workloads[web].Writes)
	w.edit(in(v1alpha1.ModeActive))
	_ = w.reconcileN(2)
	same(t, "ScalingActive", "AmbiguousSelector", summary.Condition(&w.object().Status, autoscalingv2.ScalingActive).Reason)
	same(t, "written beside it", []int32(nil), w.hub.workloads[web].Writes)
}

// The mode of each object is a series, which follows it, and goes with it.
func TestModeMetric(t *testing.T) {
	w := onHub(t)
	series := func() []string {
		var all []string
		families, _ := w.registry.Gather()
		for _, family := range families {
			if family.GetName() != "fleetscale_federatedhpa_mode" {
				continue
			}
			for _, m := range family.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "mode" {
						all = append(all, l.GetValue())
					}
				}
			}
		}
		return all
	}
	_ = w.reconcileN(1)
	same(t, "by default", []string{"Active"}, series())
	w.edit(in(v1alpha1.ModePaused))
	_ = w.reconcileN(1)
	same(t, "paused", []string{"Paused"}, series())
	delete(w.hub.Objects, web)
	_ = w.reconcileN(1)
	same(t, "gone", []string(nil), series())
}

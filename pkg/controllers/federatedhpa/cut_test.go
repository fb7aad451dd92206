// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/restore"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// cutObject is one of distributed mode as it is left by a write under a schema that does not know that mode: metadata is
// as it was, and so is what Karmada's kind has too.
func cutObject(generation int64) *v1alpha1.FederatedHPA {
	object := federatedhpatest.NewObject("web")
	object.Generation, object.Finalizers = generation, []string{v1alpha1.MemberAutoscalersFinalizer}
	who := &metav1.FieldsV1{}
	who.SetRawBytes([]byte(`{"f:spec":{".":{},"f:federatedHPAAssignment":{".":{},"f:federatedHPAAssignmentType":{}},"f:maxReplicas":{}}}`))
	object.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubectl-create", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: who},
		{Manager: record.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &metav1.Time{Time: start}},
	}
	object.Status = v1alpha1.FederatedHPAStatus{ObservedGeneration: new(int64(3)), CurrentReplicas: 14}
	return object
}

// Whoever leads, and however often the leader changes: nothing is taken apart, and nothing is written to the hub's
// workload.
func TestCutObjectIsNeverTakenApart(t *testing.T) {
	tests := map[string]func() *v1alpha1.FederatedHPA{
		"by a write of its metadata":        func() *v1alpha1.FederatedHPA { return cutObject(3) },
		"and its spec was edited meanwhile": func() *v1alpha1.FederatedHPA { return cutObject(4) },
		"and another controller saw the edit": func() *v1alpha1.FederatedHPA {
			o := cutObject(4)
			o.Status.ObservedGeneration = new(int64(4))
			return o
		},
		"and the status is lost too": func() *v1alpha1.FederatedHPA {
			o := cutObject(
				3)
			o.Status = v1alpha1.FederatedHPAStatus{}
			return o
		},
		"and it is not known who wrote its spec": func() *v1alpha1.FederatedHPA {
			o := cutObject(
				3)
			o.ManagedFields = o.ManagedFields[1:]
			return o
		},
		"and the status still tells of the split": func() *v1alpha1.FederatedHPA {
			o := cutObject(3)
			o.Status.Clusters = []v1alpha1.ClusterStatus{{Name: "east"}}
			return o
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			w.other.left = true
			w.hub.Put(make())
			for range 3 {
				w.restart()
				for range 10 {
					if again, err := w.reconcile(web); err != nil || again == 0 || again > period {
						t.Fatalf("reconciled: again after %v, %v", again, err)
					}
					w.Clock.SetTime(w.Clock.Now().Add(period))
				}
			}
			same(t, "asked of the other mode", nil, w.other.did)
			same(t, "the hub was told", nil, w.hub.workloads[web].Writes)
			same(t, "AbleToScale", restore.ReasonSpecCut, summary.Condition(&w.object().Status, autoscalingv2.AbleToScale).Reason)

			back := w.object()
			back.Generation++
			back.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
			w.hub.Put(back)
			w.other.did = nil
			_ = w.reconcileN(2)
			same(t, "asked of the other mode once it is whole", []string{"reconcile web", "reconcile web"}, w.other.did)
		})
	}
}

// What a cut object says is stored only when it is certain that the schema is ours: to store it under another one would
// make the loss final.
func TestCutObjectIsDoubtedFirst(t *testing.T) {
	w := onHub(t)
	w.hub.Put(cutObject(3))
	for range 4 {
		_ = w.reconcileN(1)
	}
	same(t, "heard in doubt", nil, w.Heard())
	w.held = errHeld
	w.Clock.SetTime(w.Clock.Now().Add(time.Hour))
	_ = w.reconcileN(1)
	w.held = nil
	for range 4 {
		_ = w.reconcileN(1)
	}
	same(t, "heard in doubt after the schema was not ours", nil, w.Heard())
	_ = w.reconcileN(1)
	same(t, "heard when it is certain", 1, len(w.Heard()))
}

// dropped is an object as it is left by a write under Karmada's schema.
func dropped(object *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA {
	cut := object.DeepCopy()
	cut.Spec = v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: cut.Spec.HorizontalPodAutoscalerSpec}
	cut.Status.Summary, cut.Status.Clusters, cut.Status.Assignment, cut.Status.Stabilization = nil, nil, nil, nil
	return cut
}

// Whatever of ours an object has lost, and whoever leads: it is not acted on, says so, and has it all again.
func TestLostFieldsAreRestored(t *testing.T) {
	tests := map[string]func(*v1alpha1.FederatedHPA){
		"the distribution": func(*v1alpha1.FederatedHPA) {},
		"the mode": func(f *v1alpha1.FederatedHPA) {
			f.Spec.ReplicaDistribution, f.Spec.Mode = nil, v1alpha1.ModeObserve
		},
		"affinity and tolerations": func(f *v1alpha1.FederatedHPA) {
			f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"east"}}
			f.Spec.ClusterTolerations = []corev1.Toleration{{Key: "fleetscale.io/cordon", Operator: corev1.TolerationOpExists}}
		},
		"scaling to zero": func(f *v1alpha1.FederatedHPA) {
			f.Spec.ReplicaDistribution, f.Spec.FederatedHPAAssignment = nil, &v1alpha1.FederatedHPAAssignment{}
			f.Spec.ScalingToZero = new(true)
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"east": 5, "west": 5}, change)
			_ = w.reconcileN(2)
			whole := w.object()
			same(t, "written but for the status", []string{record.FieldManager}, w.hub.Patched)
			w.hub.Put(dropped(whole))
			w.restart()
			w.usesPercent(75)
			w.Heard()
			w.other.did, w.wrote = nil, nil
			_ = w.reconcileN(4)
			same(t, "asked of the other mode in doubt", nil, w.other.did)
			_ = w.reconcileN(1)
			same(t, "state", v1alpha1.StateFailing, w.object().Status.Summary.State)
			_ = w.reconcileN(1)
			same(t, "spec", whole.Spec, w.object().Spec)
			same(t, "written in members meanwhile", nil, w.wrote)
			heard := w.Heard()
			if len(heard) != 2 || !strings.HasPrefix(heard[0], "!SpecCut: dropped without an edit: spec.") ||
				!strings.HasPrefix(heard[1], "SpecRestored: restored from the annotation fleetscale.io/spec: spec.") {
				t.Errorf("heard %q", heard)
			}
			same(t, "restored", map[string]string{"FederatedHPA": "1"}, w.series("fleetscale_specs_restored_total"))
			same(t, "cut", map[string]string{"FederatedHPA": "1"}, w.series("fleetscale_specs_cut"))
			_ = w.reconcileN(2)
			same(t, "cut in the end", map[string]string{"FederatedHPA": "0"}, w.series("fleetscale_specs_cut"))
			reason := summary.Condition(&w.object().Status, autoscalingv2.AbleToScale).Reason
			if reason == restore.ReasonSpecCut && w.other.did == nil {
				t.Errorf("AbleToScale says %s", reason)
			}
			if slices.ContainsFunc(w.object().ManagedFields, restore.ByKeeper) {
				t.Error("who applies cannot remove what was restored")
			}
		})
	}
}

// What cannot be restored is said, once, and is retried.
func TestLostFieldsThatCannotBeRestored(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	_ = w.reconcileN(2)
	whole := w.object()
	w.hub.Put(dropped(whole))
	w.hub.FailPatch = func() error { return errHeld }
	w.Heard()
	_ = w.reconcileN(8)
	if heard := w.Heard(); len(heard) != 1 {
		t.Errorf("heard %q", heard)
	}
	said := summary.Condition(&w.object().Status, autoscalingv2.AbleToScale)
	if said.Reason != restore.ReasonSpecCut || !strings.Contains(said.Message,
		"They could not be restored from the annotation fleetscale.io/spec: "+
			errHeld.Error()) {
		t.Errorf("AbleToScale says %s: %s", said.Reason, said.Message)
	}
	w.hub.FailPatch = nil
	_ = w.reconcileN(1)
	same(t, "spec", whole.Spec, w.object().Spec)
}

// What the hub, or a policy of it, drops again is not restored, and nobody is told that it were.
func TestLostFieldsThatAreDroppedAgain(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	_ = w.reconcileN(2)
	whole := w.object()
	w.hub.Put(dropped(whole))
	w.hub.Drops = dropped
	w.Heard()
	_ = w.reconcileN(8)
	if heard := strings.Join(w.Heard(), "\n"); strings.Contains(heard, restore.EventSpecRestored) {
		t.Errorf("heard %q", heard)
	}
	said := summary.Condition(&w.object().Status, autoscalingv2.AbleToScale)
	if said.Reason != restore.ReasonSpecCut || !strings.Contains(said.Message, "drops them from what is written") {
		t.Errorf("AbleToScale says %s: %s", said.Reason, said.Message)
	}
	w.hub.Drops = nil
	_ = w.reconcileN(2)
	same(t, "spec", whole.Spec, w.object().Spec)
}

// One that is deleted and waits for clusters comes back, and is no error.
func TestDeletionThatWaitsComesBack(t *testing.T) {
	w := onHub(t)
	object := w.object()
	object.DeletionTimestamp, object.Finalizers = &metav1.Time{Time: start}, []string{v1alpha1.MemberAutoscalersFinalizer}
	w.hub.Put(object)
	if again, err := w.reconcile(web); err != nil || again != period {
		t.Errorf("comes back after %v, %v", again, err)
	}
	object.Finalizers = []string{"somebody.else/waits"}
	w.hub.Put(object)
	if again, err := w.reconcile(web); err != nil || again != 0 {
		t.Errorf("comes back after %v, %v, though nothing of ours is left", again, err)
	}
}

// A field that was lost and has a default is not taken for one that has it.
func TestLostFieldThatHasADefault(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5}, func(f *v1alpha1.FederatedHPA) {
		f.Spec.AutoscaleMultiClusterDelay = new(int32(300))
	})
	_ = w.reconcileN(2)
	cut := w.object()
	cut.Spec.AutoscaleMultiClusterDelay = nil
	w.hub.Put(cut)
	w.Heard()
	_ = w.reconcileN(6)
	const lost = "!SpecCut: dropped without an edit: spec.autoscaleMultiClusterDelay. "
	if heard := w.Heard(); len(heard) != 2 || !strings.HasPrefix(heard[0], lost) {
		t.Errorf("heard %q", heard)
	}
	same(t, "restored", new(int32(300)), w.object().Spec.AutoscaleMultiClusterDelay)
}

// A program that only observes tells of lost fields for as long as they are, and does not try to restore them.
func TestObserverOfLostFields(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	_ = w.reconcileN(2)
	whole := w.object()
	w.hub.Put(dropped(whole))
	w.restart()
	hub := w.observing()
	would := func() autoscalingv2.HorizontalPodAutoscalerCondition {
		t.Helper()
		var object v1alpha1.FederatedHPA
		if err := hub.Get(t.Context(), web, &object); err != nil {
			t.Fatal(err)
		}
		return summary.Condition(&object.Status, autoscalingv2.AbleToScale)
	}
	w.hub.Patched = nil
	w.Heard()
	if err := w.reconcileN(8); err != nil {
		t.Fatal(err)
	}
	same(t, "written", nil, w.hub.Patched)
	same(t, "Events", 1, len(w.Heard()))
	const said = ". This program only observes, and does not restore them"
	if c := would(); c.Reason != restore.ReasonSpecCut || !strings.HasSuffix(c.Message, said) {
		t.Errorf("AbleToScale says %s: %s", c.Reason, c.Message)
	}
	same(t, "cut", map[string]string{"FederatedHPA": "1"}, w.series("fleetscale_specs_cut"))
	w.hub.Put(whole)
	if err := w.reconcileN(2); err != nil {
		t.Fatal(err)
	}
	same(t, "cut once they are there again", map[string]string{"FederatedHPA": "0"}, w.series("fleetscale_specs_cut"))
	if c := would(); c.Reason == restore.ReasonSpecCut {
		t.Errorf("AbleToScale says %s: %s", c.Reason, c.Message)
	}
}

// A deletion follows the policy that was lost, and not its default.
func TestDeletionFollowsALostPolicy(t *testing.T) {
	w := onHub(t)
	object := w.object()
	object.Spec.FederatedHPAAssignment, object.Spec.DeletionPolicy = &v1alpha1.FederatedHPAAssignment{}, v1alpha1.DeletionPolicyOrphan
	speccopy.Keep(object, speccopy.Of(object))
	object.Spec.DeletionPolicy = ""
	object.DeletionTimestamp, object.Finalizers = &metav1.Time{Time: start}, []string{v1alpha1.MemberAutoscalersFinalizer}
	w.hub.Put(object)
	_ = w.reconcileN(6)
	same(t, "policy", v1alpha1.DeletionPolicyOrphan, w.other.policy)
}

// One that is paused no longer says that it has lost fields once it has them again.
func TestPausedObjectThatIsRestored(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	w.edit(in(v1alpha1.ModePaused))
	_ = w.reconcileN(2)
	w.hub.Put(dropped(w.object()))
	_ = w.reconcileN(5)
	same(t, "AbleToScale", restore.ReasonSpecCut, summary.Condition(&w.object().Status, autoscalingv2.AbleToScale).Reason)
	_ = w.reconcileN(2)
	same(t, "AbleToScale once it is whole", "", summary.Condition(&w.object().Status, autoscalingv2.AbleToScale).Reason)
	same(t, "state", v1alpha1.StatePaused, w.object().Status.Summary.State)
}

// An object that cannot get a copy of its fields is scaled all the same.
func TestUnprotectedObjectIsScaled(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 10})
	w.usesPercent(75)
	w.hub.FailPatch = func() error { return errHeld }
	if err := w.reconcileN(1); err != nil {
		t.Error(err)
	}
	same(t, "runs", map[string]int32{"east": 15}, w.runs())
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
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
			w.hub.put(make())
			for range 3 {
				w.restart()
				for range 10 {
					if again, err := w.reconcile(web); err != nil || again == 0 || again > period {
						t.Fatalf("reconciled: again after %v, %v", again, err)
					}
					w.clock.SetTime(w.clock.Now().Add(period))
				}
			}
			same(t, "asked of the other mode", []string{"keep web"}, slices.Compact(w.other.did))
			same(t, "the hub was told", nil, w.hub.workloads[web].writes)

			back := w.object()
			back.Generation++
			back.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
			w.hub.put(back)
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
	w.hub.put(cutObject(3))
	for range 4 {
		_ = w.reconcileN(1)
	}
	same(t, "asked in doubt", nil, w.other.did)
	w.held = errHeld
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	_ = w.reconcileN(1)
	w.held = nil
	for range 4 {
		_ = w.reconcileN(1)
	}
	same(t, "asked in doubt after the schema was not ours", nil, w.other.did)
	_ = w.reconcileN(1)
	same(t, "asked when it is certain", []string{"keep web"}, w.other.did)
}

// One that is deleted and waits for clusters comes back, and is no error.
func TestDeletionThatWaitsComesBack(t *testing.T) {
	w := onHub(t)
	object := w.object()
	object.DeletionTimestamp, object.Finalizers = &metav1.Time{Time: start}, []string{v1alpha1.MemberAutoscalersFinalizer}
	w.hub.put(object)
	if again, err := w.reconcile(web); err != nil || again != period {
		t.Errorf("comes back after %v, %v", again, err)
	}
	object.Finalizers = []string{"somebody.else/waits"}
	w.hub.put(object)
	if again, err := w.reconcile(web); err != nil || again != 0 {
		t.Errorf("comes back after %v, %v, though nothing of ours is left", again, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/hub/hubclient"
)

// observing has the program be one that only observes, on the hub that it returns.
func (w *world) observing() *hubclient.Observed {
	hub := hubclient.NewObserved(w.hub)
	recorder := record.New(hub, w)
	w.program.Hub, w.program.Live, w.program.Recorder, w.program.Observes = hub, hub.Live(w.hub), recorder, true
	w.program.Central.Hub, w.program.Central.Recorder = hub, recorder
	return hub
}

// Beside another controller, which writes the status all the time, a program that only observes decides, continues from its own
// decisions, and leaves all as it is.
func TestObserverBesideAnotherController(t *testing.T) {
	w := onHub(t)
	object := w.object()
	object.Status.DesiredReplicas = 10
	object.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "karmada-controller-manager", Subresource: "status", Time: &metav1.Time{Time: w.Clock.Now().Add(period)}},
	}
	w.hub.Put(object)
	hub := w.observing()
	w.wants(18)
	if err := w.reconcileN(3); err != nil {
		t.Fatal(err)
	}
	var would v1alpha1.FederatedHPA
	if err := hub.Get(t.Context(), web, &would); err != nil {
		t.Fatal(err)
	}
	same(t, "it would run", int32(18), would.Status.DesiredReplicas)
	same(t, "state", v1alpha1.StateObserving, would.Status.Summary.State)
	if e := would.Status.Explanation; e == nil || e.CurrentReplicas != 10 || e.DesiredReplicas != 18 {
		t.Errorf("explained by %+v", e)
	}
	if window := would.Status.Stabilization; window == nil {
		t.Error("it does not remember what it recommended")
	}
	same(t, "mode in metrics", map[string]string{"Observe web shop": "1"}, w.series("fleetscale_federatedhpa_mode"))

	same(t, "scaled", []int32(nil), w.hub.workloads[web].Writes)
	same(t, "statuses written", 0, w.hub.StatusWrites)
	same(t, "written otherwise", []string(nil), w.hub.Patched)
	same(t, "status on the hub", int32(10), w.object().Status.DesiredReplicas)
	same(t, "mode on the hub", v1alpha1.AutoscalingMode(""), w.object().Spec.Mode)
}

// What is deleted has nothing of an observer's to take away, whoever keeps it.
func TestObserverLeavesWhatIsDeleted(t *testing.T) {
	w := onHub(t)
	w.observing()
	w.wants(18)
	_ = w.reconcileN(1)
	object := w.object()
	object.DeletionTimestamp, object.Finalizers = &metav1.Time{Time: start}, []string{"example.com/keeps"}
	w.hub.Put(object)
	again, err := w.reconcile(web)
	if again != 0 || err != nil {
		t.Errorf("comes again after %v, %v", again, err)
	}
	same(t, "written otherwise", []string(nil), w.hub.Patched)
	same(t, "mode in metrics", map[string]string{}, w.series("fleetscale_federatedhpa_mode"))
}

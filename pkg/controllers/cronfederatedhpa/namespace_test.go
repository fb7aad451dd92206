// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// In a namespace of Kubernetes or of ours no rule sets anything: its target is not even read.
func TestReservedNamespaces(t *testing.T) {
	object := newCron(federated, setsMin("r", "0 9 * * *", 5))
	object.Namespace, object.CreationTimestamp = "kube-system", *stamp(moment(t, "08:00"))
	target := newFederatedHPA(1, 10)
	target.Namespace = object.Namespace
	store := newMemory(object, target)
	clock := clocktesting.NewFakePassiveClock(moment(t, "08:30"))
	r := New(Options{Hub: store, Clock: clock, TimeZone: "UTC", Events: noEvents{}, Hold: func() error { return nil },
		Metrics: NewMetrics(prometheus.NewRegistry())}) // without Live a target that is read is a panic
	for _, at := range []string{"08:30", "09:01", "09:02"} {
		clock.SetTime(moment(t, at))
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err != nil {
			t.Fatal(err)
		}
	}
	var stored v1alpha1.CronFederatedHPA
	var bounds v1alpha1.FederatedHPA
	for into, key := range map[client.Object]client.ObjectKey{&stored: client.ObjectKeyFromObject(object),
		&bounds: client.ObjectKeyFromObject(target)} {
		if err := store.Get(t.Context(), key, into); err != nil {
			t.Fatal(err)
		}
	}
	const why = `nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one`
	c := meta.FindStatusCondition(stored.Status.Conditions, v1alpha1.CronReady)
	if c == nil || c.Status != "False" || c.Reason != "NamespaceNotAllowed" || c.Message != why {
		t.Errorf("Ready: %v", c)
	}
	if *bounds.Spec.MinReplicas != 1 {
		t.Errorf("the target was set to %d", *bounds.Spec.MinReplicas)
	}
	failed := stored.Status.ExecutionHistories[0].FailedExecutions
	if len(failed) != 1 || failed[0].Message != why || !failed[0].ScheduleTime.Time.Equal(moment(t, "09:00")) {
		t.Errorf("failed: %v, want the run of 9 o'clock, once", failed)
	}
	if next := stored.Status.NextExecutionTime; next == nil || next.Sub(moment(t, "09:00")) != 24*time.Hour {
		t.Errorf("next: %v", next)
	}
}

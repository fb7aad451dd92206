// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// In a namespace of Kubernetes or of ours nothing is learned, scaled or sized; it is said once why.
func TestReservedNamespaces(t *testing.T) {
	m := object(withGoal, func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Namespace = "kube-system"
		m.Spec.Policy.UpdateMode = v1alpha1.UpdateModeInPlace
	})
	w := newWorld(t, m)
	key := client.ObjectKeyFromObject(m)
	for range 3 {
		if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		w.clock.SetTime(w.clock.Now().Add(w.Period))
	}
	var stored v1alpha1.MultidimPodAutoscaler
	if err := w.hub.Get(t.Context(), key, &stored); err != nil {
		t.Fatal(err)
	}
	const why = `nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one`
	c := meta.FindStatusCondition(stored.Status.Conditions, v1alpha1.MultidimConfigUnsupported)
	if c == nil || c.Status != "True" || c.Reason != "NamespaceNotAllowed" || c.Message != why {
		t.Errorf("ConfigUnsupported: %v", c)
	}
	same(t, "state", v1alpha1.MultidimFailing, stored.Status.Summary.State)
	same(t, "told", []string{corev1.EventTypeWarning + " NamespaceNotAllowed " + why}, w.told())
	same(t, "requests", []string{"status MultidimPodAutoscaler"}, w.requests)
	same(t, "what Pods use was asked", 0, w.asked)
	w.didNothing(t, "there")
	if stored.Status.Recommendation != nil || len(stored.Finalizers) > 0 {
		t.Errorf("recommended %v, finalizers %v", stored.Status.Recommendation, stored.Finalizers)
	}
}

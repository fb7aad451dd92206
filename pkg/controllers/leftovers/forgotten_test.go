// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// elsewhere is a FederatedHPA in distributed mode that is at rest with a spec that selects west only.
func elsewhere(f *v1alpha1.FederatedHPA) {
	f.Generation, f.Status.ObservedGeneration = 3, new(int64(3))
	f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: v1alpha1.AssignmentStaticWeighted}
	f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"west"}}
	f.Status.Clusters = []v1alpha1.ClusterStatus{{Name: "west"}}
}

// A cluster that was not registered when it was taken out of the selection keeps an autoscaler that its owner has forgotten.
func TestWhatItsOwnerHasForgottenIsRemoved(t *testing.T) {
	but := func(change func(*v1alpha1.FederatedHPA)) func(*world) {
		return func(w *world) {
			w.cached.objects["a"] = func(f *v1alpha1.FederatedHPA) { elsewhere(f); change(f) }
			w.hub.objects["a"] = w.cached.objects["a"]
		}
	}
	tests := map[string]struct {
		change func(*world)
		goes   bool
	}{
		"forgotten": {func(*world) {}, true},
		"selected":  {but(func(f *v1alpha1.FederatedHPA) { f.Spec.ClusterAffinity.ClusterNames = []string{"east"} }), false},
		"all are":   {but(func(f *v1alpha1.FederatedHPA) { f.Spec.ClusterAffinity = nil }), false},
		"it is known, and about to leave": {but(func(f *v1alpha1.FederatedHPA) {
			f.Status.Clusters = append(f.Status.Clusters, v1alpha1.ClusterStatus{Name: "east"})
		}), false},
		"the spec is new":        {but(func(f *v1alpha1.FederatedHPA) { f.Generation = 4 }), false},
		"it was never seen":      {but(func(f *v1alpha1.FederatedHPA) { f.Status.ObservedGeneration = nil }), false},
		"it lost its mode":       {but(func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = nil }), false},
		"it only observes":       {but(func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve }), false},
		"it is paused":           {but(func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModePaused }), false},
		"it is being deleted":    {but(func(f *v1alpha1.FederatedHPA) { f.DeletionTimestamp = &metav1.Time{} }), false},
		"the cluster is joining": {func(w *world) { w.all["east"].Joins = true }, false},
		"the affinity is broken": {but(func(f *v1alpha1.FederatedHPA) {
			f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}}
		}), false},
		"the cache lags, and the hub selects it": {func(w *world) {
			w.hub.objects["a"] = func(f *v1alpha1.FederatedHPA) { elsewhere(f); f.Spec.ClusterAffinity = nil }
		}, false},
		"the cache alone selects it": {func(w *world) {
			w.cached.objects["a"] = func(f *v1alpha1.FederatedHPA) { elsewhere(f); f.Spec.ClusterAffinity = nil }
		}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hub.objects = map[string]func(*v1alpha1.FederatedHPA){"a": elsewhere}
			w.cached.objects = map[string]func(*v1alpha1.FederatedHPA){"a": elsewhere}
			tc.change(w)
			want := []string{"shop/old"}
			if tc.goes {
				want = append(want, "shop/web")
			}
			w.after(t, 0, want...)
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"errors"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// A template that may not be read is the matter of the clusters that lack the workload. Where others place it, it says
// whether they write the replicas, too.
func TestTemplateThatMayNotBeRead(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "web", errors.New("not you"))
	tests := map[string]struct {
		placed placement.Source
		able   string
		has    map[string]string
	}{
		"we make it": {nil, "True ReadyForNewScale: the bounds are split among 1 clusters",
			map[string]string{"a": "web 2-10, runs 2", "b": "no workload"}},
		"others do": {placedIn{rule: placement.Duplicated, names: []string{"a", "b"}},
			`False FailedReadHub: reading Deployment "web" on the hub: ` + forbidden.Error(), map[string]string{"a": "runs 2", "b": "no workload"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, v1alpha1.AssignmentStaticWeighted, map[string]int32{"a": 2})
			w.member("b")
			w.placed = tc.placed
			w.restart()
			w.hub.failGet = func() error { return forbidden }
			_ = w.reconcileN(2)
			same(t, "AbleToScale", tc.able, w.condition(autoscalingv2.AbleToScale))
			same(t, "there is", tc.has, w.has())
		})
	}
}

// Who is to fix what is in the way sees it in the reason.
func TestWhatCanNotBeReadIsSaid(t *testing.T) {
	broken := errors.New("no rights")
	noSelector := v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Like", Values: []string{"gold"}}},
	}}
	tests := map[string]struct {
		before func(*world)
		want   string
	}{
		"where the workload is placed": {
			func(w *world) { w.placed = placedIn{err: broken}; w.restart() },
			`False FailedReadHub: reading where Deployment "web" is placed: no rights`},
		"the workload on the hub": {
			func(w *world) {
				w.member("b").undeploy()
				w.mustReconcile(1) // it is known from then on, so that only the workload is read
				w.hub.failGet = func() error { return broken }
			},
			`False FailedReadHub: reading Deployment "web" on the hub: no rights`},
		"the affinity": {
			func(w *world) {
				w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.ClusterAffinity = &noSelector })
			},
			`False InvalidSpec: spec.clusterAffinity: reading labelSelector: "Like" is not a valid label selector operator`},
		"a preference": {
			func(w *world) {
				w.edit(func(f *v1alpha1.FederatedHPA) {
					a := f.Spec.FederatedHPAAssignment
					a.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{{TargetCluster: &noSelector}}
				})
			},
			`False InvalidSpec: spec.federatedHPAAssignment: reading clusterAutoscalingPreference[0].targetCluster: reading labelSelector: "Like" is not a valid label selector operator`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, v1alpha1.AssignmentStaticWeighted, map[string]int32{"a": 2, "b": 2})
			tc.before(w)
			if err := w.reconcile(); err == nil {
				t.Error("the reconcile succeeded")
			}
			same(t, "AbleToScale", tc.want, w.condition(autoscalingv2.AbleToScale))
		})
	}
}

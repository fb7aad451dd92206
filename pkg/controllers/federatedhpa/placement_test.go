// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// bind has Karmada place the workload in these clusters.
func (w *world) bind(replicas int32, clusters ...placement.ResourceBindingCluster) {
	key := web
	key.Name = "web-deployment"
	w.hub.bindings[key] = &placement.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       placement.ResourceBindingSpec{Replicas: replicas, Clusters: clusters},
	}
}

func at(cluster string, replicas int32) placement.ResourceBindingCluster {
	return placement.ResourceBindingCluster{Name: cluster, Replicas: replicas}
}

// schedule says how the replicas come to clusters; the empty type is left out.
func (w *world) schedule(kind string) {
	key := web
	key.Name = "web-deployment"
	p := &placement.ResourceBindingPlacement{}
	if kind != "" {
		p.ReplicaScheduling = &placement.ResourceBindingReplicaScheduling{ReplicaSchedulingType: kind}
	}
	w.hub.bindings[key].Spec.Placement = p
}

// Where each member is told, it does not matter how Karmada would divide the hub's number, nor whether it propagates the
// workload at all.
func TestPartsOnKarmada(t *testing.T) {
	tests := map[string]struct {
		arrange func(*world)
		want    string
	}{
		"propagated by others": {func(*world) {}, "3/3"},
		"duplicated": {func(w *world) {
			w.bind(2, at("a", 2), at("b", 2))
			w.schedule("Duplicated")
			w.hub.workloads[web] = &federatedhpatest.Workload{Labels: retained}
		}, "2/2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"a": 2, "b": 2, "c": 2})
			w.placed = placement.NewKarmada(w.hub, w.Clock)
			w.restart()
			tc.arrange(w)
			_ = w.reconcileN(1)
			same(t, "clusters", tc.want, w.object().Status.Summary.Clusters)
		})
	}
}

// Which clusters take part.
func TestPlacement(t *testing.T) {
	affinity := func(a *v1alpha1.ClusterAffinity) func(*world) {
		return func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ClusterAffinity = a }) }
	}
	tests := map[string]struct {
		arrange  func(*world)
		status   string
		clusters []string
		runs     int32
	}{
		"where Karmada placed it": {func(w *world) {
			w.bind(10, at("east", 5), at("west", 5))
		},
			"Active 2/2 10->15", []string{"east Active assigned 5 current ? ready 5", "west Active assigned 5 current ? ready 5"}, 15},
		"a cluster that Karmada empties does not count": {func(w *world) {
			w.bind(5, at("east", 5), at("west", 0))
		},
			"Active 2/2 10->10 ScaleDownStabilized",
			[]string{"east Active assigned 5 current ? ready 5", "west Active assigned 0 current ? ready 5"}, 10},
		"a cluster that it left is not read": {func(w *world) { w.bind(5, at("east", 5)) },
			"Active 1/1 10->10 ScaleDownStabilized", []string{"east Active assigned 5 current ? ready 5"}, 10},
		"replicas that Karmada does not know of": {func(w *world) {
			w.bind(0, placement.ResourceBindingCluster{Name: "east"}, placement.ResourceBindingCluster{Name: "west"})
		},
			"Active 2/2 10->15", []string{"east Active assigned ? current ? ready 5", "west Active assigned ? current ? ready 5"}, 15},
		"a cluster that is not registered is silent": {func(w *world) {
			w.bind(15, at("east", 5), at("north", 5), at("west", 5))
			w.usesPercent(10)
		}, "Active 2/3 10->10 ClusterUnreachable", []string{"east Active assigned 5 current ? ready 5",
			"north Unreachable assigned 5 current ? ready ? NotRegistered", "west Active assigned 5 current ? ready 5"}, 10},
		"all replicas in one cluster": {func(w *world) { w.bind(5, at("east", 5)); w.schedule("") },
			"Active 1/1 10->10 ScaleDownStabilized", []string{"east Active assigned 5 current ? ready 5"}, 10},
		"all replicas in each of two": {func(w *world) {
			w.hub.workloads[web].Replicas = 5
			w.bind(5, at("east", 5), at("west", 5))
			w.schedule("Duplicated")
		}, "Active 2/2 5->8", []string{"east Active assigned 5 current ? ready 5", "west Active assigned 5 current ? ready 5"}, 8},
		"all replicas in each of two, by default": {func(w *world) {
			w.hub.workloads[web].Replicas = 5
			w.bind(5, at("east", 5), at("west", 5))
			w.schedule("")
		}, "Active 2/2 5->8", []string{"east Active assigned 5 current ? ready 5", "west Active assigned 5 current ? ready 5"}, 8},
		"divided, and said so": {func(w *world) {
			w.bind(10, at("east", 5), at("west", 5))
			w.schedule("Divided")
		}, "Active 2/2 10->15", []string{"east Active assigned 5 current ? ready 5", "west Active assigned 5 current ? ready 5"}, 15},
		"a workload that Karmada does not propagate": {func(*world) {}, "Failing 0/0 0->0 FailedGetScale", nil, 10},
		"bindings that cannot be read": {func(w *world) { w.hub.noBinding = errors.New("no") }, "Failing 0/0 0->0 FailedGetScale",
			nil, 10},
		"a hub that is not Karmada's": {func(w *world) {
			w.hub.noBinding = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ResourceBinding"}}
		},
			"Active 2/2 10->15", []string{"east Active assigned ? current ? ready 5", "west Active assigned ? current ? ready 5"}, 15},
		"of the placed ones, those of an affinity": {func(w *world) {
			w.bind(10, at("east", 5), at("north", 5), at("west", 5))
			affinity(&v1alpha1.ClusterAffinity{ExcludeClusters: []string{"north", "west"}})(w)
		}, "Active 1/1 10->10 ScaleDownStabilized", []string{"east Active assigned 5 current ? ready 5"}, 10},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			w.placed = placement.NewKarmada(w.hub, w.Clock)
			w.restart()
			w.usesPercent(75)
			tc.arrange(w)
			_, _ = w.reconcile(web)
			same(t, "status", tc.status, say(&w.object().Status))
			same(t, "clusters", tc.clusters, w.clusters())
			if n := w.hub.workloads[web].Replicas; n != tc.runs {
				t.Errorf("%d replicas, want %d", n, tc.runs)
			}
		})
	}
}

// Clusters by their registration.
func TestAffinity(t *testing.T) {
	tests := map[string]struct {
		affinity *v1alpha1.ClusterAffinity
		want     string
	}{
		"none":     {nil, "3/3"},
		"by names": {&v1alpha1.ClusterAffinity{ClusterNames: []string{"a", "b"}}, "2/2"},
		"by labels": {&v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "production"}}},
			"1/1"},
		"by region": {&v1alpha1.ClusterAffinity{FieldSelector: &v1alpha1.FieldSelector{MatchExpressions: []v1alpha1.FieldSelectorRequirement{
			{Key: v1alpha1.FieldRegion, Operator: v1alpha1.FieldSelectorNotIn, Values: []string{"eu"}}}}}, "2/2"},
		"but for some": {&v1alpha1.ClusterAffinity{ExcludeClusters: []string{"c"}}, "2/2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"a": 2, "b": 2, "c": 2})
			w.members["a"].About = assignment.ClusterFacts{Name: "a", Region: "eu", Labels: map[string]string{"tier": "production"}}
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ClusterAffinity = tc.affinity })
			_ = w.reconcileN(1)
			same(t, "clusters", tc.want, w.object().Status.Summary.Clusters)
		})
	}
}

// While it cannot be read where the workload is placed, the clusters stay in the status as they were.
func TestPlacementCanNotBeRead(t *testing.T) {
	w := onHub(t)
	w.placed = placement.NewKarmada(w.hub, w.Clock)
	w.restart()
	w.bind(10, at("east", 5), at("west", 5))
	_ = w.reconcileN(1)
	before := w.clusters()
	w.hub.noBinding = errors.New("no")
	_ = w.reconcileN(1)
	same(t, "status", "Failing 2/2 10->10 FailedGetScale", say(&w.object().Status))
	same(t, "clusters", before, w.clusters())
}

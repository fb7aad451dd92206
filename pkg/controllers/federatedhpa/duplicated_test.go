// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// inEach has a Deployment on a Karmada hub that runs so many replicas in each of two clusters, at its target.
func inEach(t testing.TB, n int32) *world {
	w := newWorld(t)
	w.placed = placement.NewKarmada(w.hub, w.Clock)
	w.restart()
	w.hub.workloads[web] = &federatedhpatest.Workload{Replicas: n, Selector: "app=web"}
	w.duplicates()
	w.aged()
	w.hub.Put(federatedhpatest.NewObject("web"))
	return w
}

// duplicates is what Karmada does: each cluster runs as many as the hub says, and the hub says what all run.
func (w *world) duplicates() {
	n := w.hub.workloads[web].Replicas
	w.bind(n, at("east", n), at("west", n))
	w.schedule("Duplicated")
	w.hub.workloads[web].StatusReplicas = 2 * n
	for _, name := range []string{"east", "west"} {
		w.member(name).deploy("web", n)
	}
}

// uses has all Pods together use so many percent of one.
func (w *world) uses(percent int64) {
	w.use = func(string, string) int64 {
		pods := 0
		for _, m := range w.members {
			pods += len(m.pods)
		}
		return percent / int64(max(1, pods))
	}
}

// The number on the hub is that of each cluster, and settles at what all Pods call for.
func TestDuplicated(t *testing.T) {
	tests := map[string]struct {
		load   int64 // of all Pods together, in percent of one; a Pod is to use 50
		bounds [2]int32
		want   int32
		status string
	}{
		"at the target":                 {500, [2]int32{1, 100}, 5, "Active 2/2 5->5"},
		"more":                          {1000, [2]int32{1, 100}, 10, "Active 2/2 10->10"},
		"one more than can be halved":   {850, [2]int32{1, 100}, 9, "Active 2/2 9->9"},
		"less":                          {150, [2]int32{1, 100}, 2, "Active 2/2 2->2"},
		"as few as one in each":         {1, [2]int32{1, 100}, 1, "Limited 2/2 1->1 TooFewReplicas"},
		"no fewer than the least":       {10, [2]int32{3, 100}, 3, "Limited 2/2 3->3 TooFewReplicas"},
		"no more than the most of each": {4000, [2]int32{1, 20}, 20, "Limited 2/2 20->20 TooManyReplicas"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inEach(t, 5)
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MinReplicas, s.MaxReplicas = &tc.bounds[0], tc.bounds[1] })
			w.uses(tc.load)
			for range 80 { // 20 minutes
				if err := w.reconcileN(1); err != nil {
					t.Fatal(err)
				}
				w.duplicates()
			}
			writes := len(w.hub.workloads[web].Writes)
			for range 40 {
				_ = w.reconcileN(1)
				w.duplicates()
			}
			same(t, "each runs", map[string]int32{"east": tc.want, "west": tc.want}, w.runs())
			same(t, "status", tc.status, say(&w.object().Status))
			same(t, "further writes", writes, len(w.hub.workloads[web].Writes))
			same(t, "Ready", 2*tc.want, *w.object().Status.ReadyReplicas)
			same(t, "Propagated", "", w.says(v1alpha1.Propagated))
		})
	}
}

// A silent cluster is not scaled in, and what the other one proves is written for both.
func TestDuplicatedAndSilent(t *testing.T) {
	for load, want := range map[int64]int32{10: 5, 50: 5, 150: 8} {
		w := inEach(t, 5)
		_ = w.reconcileN(1)
		w.member("west").Silent = federatedhpatest.Silence()
		w.usesPercent(load)
		_ = w.reconcileN(1)
		same(t, "on the hub", want, w.hub.workloads[web].Replicas)
		same(t, "FleetVisible", "ClusterUnreachable", summary.Condition(&w.object().Status, v1alpha1.FleetVisible).Reason)
	}
}

// Where Karmada's number does not reach the clusters, it is said whose number it is.
func TestDuplicatedIsNotPropagated(t *testing.T) {
	w := inEach(t, 5)
	w.usesPercent(75)
	_ = w.reconcileN(grace + 8)
	c := summary.Condition(&w.object().Status, v1alpha1.Propagated)
	same(t, "Propagated", "the workload on the hub specifies 8 replicas in each of 2 clusters, and those in the 2 selected clusters 10 in "+
		"total: have the workload propagated to them and its replicas divided, as Karmada does, or set spec.replicaDistribution to have each "+
		"cluster scaled", c.Message)
	w.edit(in(v1alpha1.ModeObserve))
	w.duplicates()
	w.aged()
	_ = w.reconcileN(1)
	same(t, "Acting", "Observing False Observe: spec.mode is Observe: the workload would go from 8 to 12 replicas in each of 2 clusters",
		acting(w))
}

// Back from distributed mode the hub learns what each cluster is to run, so that together they run no fewer than they did.
func TestDuplicatedAfterDistributed(t *testing.T) {
	w := inEach(t, 2)
	object := w.object()
	object.Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer}
	object.Status.CurrentReplicas = 9
	object.Status.Clusters = []v1alpha1.ClusterStatus{
		{Name: "east", CurrentReplicas: new(int32(6))}, {Name: "west", CurrentReplicas: new(int32(3))},
	}
	w.hub.Put(object)
	_ = w.reconcileN(1)
	same(t, "on the hub", []int32{5}, w.hub.workloads[web].Writes)
}

// A cluster that is added takes the number of the others, and it becomes less as they share the load.
func TestDuplicatedInOneMoreCluster(t *testing.T) {
	w := inEach(t, 6)
	w.uses(600)
	_ = w.reconcileN(1)
	for range 80 {
		n := w.hub.workloads[web].Replicas
		w.duplicates()
		w.bind(n, at("east", n), at("north", n), at("west", n))
		w.schedule("")
		w.member("north").deploy("web", n)
		_ = w.reconcileN(1)
	}
	same(t, "on the hub", int32(4), w.hub.workloads[web].Replicas)
	same(t, "AbleToScale", "True ReadyForNewScale", w.says(autoscalingv2.AbleToScale))
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// plain is the simplest manifest, of a workload that only members have.
func plain(f *v1alpha1.FederatedHPA) { f.Spec.ReplicaDistribution = nil }

// A workload that the hub lacks is scaled in the members, as it is divided there.
func TestScaledInMembers(t *testing.T) {
	tests := map[string]struct {
		runs    map[string]int32
		arrange func(*world)
		want    map[string]int32
		status  string
	}{
		"all is well": {map[string]int32{"a": 6, "b": 3}, func(*world) {}, map[string]int32{"a": 6, "b": 3},
			"Active 2/2 9->9 ScaledInMembers"},
		"out": {map[string]int32{"a": 6, "b": 3}, wants(12), map[string]int32{"a": 8, "b": 4}, "Active 2/2 9->12 ScaledInMembers"},
		"in": {map[string]int32{"a": 6, "b": 3}, func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 6 }) },
			map[string]int32{"a": 4, "b": 2}, "Active 2/2 9->6 ScaledInMembers"},
		"a cluster lacks it": {map[string]int32{"a": 6, "b": 3}, func(w *world) { w.member("c"); w.wants(12) }, map[string]int32{"a": 8, "b": 4},
			"Active 2/2 9->12 ScaledInMembers"},
		"not its affinity": {map[string]int32{"a": 6, "b": 3}, func(w *world) {
			w.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"a"}}
			})
			w.wants(8)
		}, map[string]int32{"a": 8, "b": 3}, "Active 1/1 6->8 ScaledInMembers"},
		"one has an autoscaler": {map[string]int32{"a": 6, "b": 3}, func(w *world) {
			w.members["b"].autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
			w.wants(12)
		}, map[string]int32{"a": 9, "b": 3}, "Active 2/2 9->12 ScaledInMembers"},
		"one cannot be told": {map[string]int32{"a": 4, "b": 4}, func(w *world) {
			w.members["b"].FailSet = func() error { return errors.New("no") }
			w.wants(8 + 4)
		}, map[string]int32{"a": 6, "b": 4}, "Active 2/2 8->12 ScaledInMembers"},
		"Pods find no node": {map[string]int32{"a": 6, "b": 3}, func(w *world) { w.members["a"].room = 1 }, map[string]int32{"a": 6, "b": 3},
			"Active 2/2 9->9 ScaledInMembers"},
		"only observed": {map[string]int32{"a": 6, "b": 3}, func(w *world) {
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Mode = v1alpha1.ModeObserve })
			w.wants(12)
		}, map[string]int32{"a": 6, "b": 3}, "Observing 2/2 9->12 ScaledInMembers Observe"},
		"karmada does not know it": {map[string]int32{"a": 6, "b": 3}, func(w *world) {
			w.placed = placement.NewKarmada(w.hub, w.Clock)
			w.restart()
			w.wants(12)
		}, map[string]int32{"a": 8, "b": 4}, "Active 2/2 9->12 ScaledInMembers"},
		"one is cordoned, out": {map[string]int32{"a": 6, "b": 3}, func(w *world) {
			w.members["b"].Annotate(taints.CordonAnnotation)
			w.wants(12)
		}, map[string]int32{"a": 9, "b": 3}, "Active 2/2 9->12 ScaledInMembers"},
		"one is cordoned, in": {map[string]int32{"a": 6, "b": 3}, func(w *world) {
			w.members["b"].Annotate(taints.CordonAnnotation)
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 6 })
		}, map[string]int32{"a": 4, "b": 2}, "Active 2/2 9->6 ScaledInMembers"},
		"one is drained": {map[string]int32{"a": 6, "b": 3}, func(w *world) { w.members["b"].Annotate(taints.DrainAnnotation) },
			map[string]int32{"a": 9, "b": 0}, "Active 2/2 9->9 ScaledInMembers"},
		"one is drained, and the other at zero": {map[string]int32{"a": 0, "b": 3}, func(w *world) {
			w.members["b"].Annotate(taints.DrainAnnotation)
			w.wants(6)
		}, map[string]int32{"a": 6, "b": 0}, "Active 2/2 3->6 ScaledInMembers"},
		"one is cordoned, and the other at zero": {map[string]int32{"a": 0, "b": 3}, func(w *world) {
			w.members["b"].Annotate(taints.CordonAnnotation)
			w.wants(6)
		}, map[string]int32{"a": 3, "b": 3}, "Active 2/2 3->6 ScaledInMembers"},
		"it stands still": {map[string]int32{"a": 0, "b": 0}, wants(12), map[string]int32{"a": 0, "b": 0},
			"Paused 2/2 0->0 ScalingDisabled ScaledInMembers"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, tc.runs, plain)
			tc.arrange(w)
			_ = w.reconcileN(1)
			same(t, "replicas", tc.want, w.runs())
			same(t, "status", tc.status, say(&w.object().Status))
		})
	}
}

// What is said: where it is scaled, and what each cluster runs.
func TestScaledInMembersIsSaid(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 6, "b": 3}, plain)
	w.member("c")
	_ = w.reconcileN(1)
	const want = `the hub has no Deployment "web": its replicas are set in each cluster that has it (2 of 3), in the proportions that they have`
	same(t, "message", want, summary.Condition(&w.object().Status, v1alpha1.Propagated).Message)
	same(t, "Events", []string{"ScaledInMembers: " + want}, w.Heard())
	same(t, "clusters", []string{"a Active assigned 6 current 6 ready 6", "b Active assigned 3 current 3 ready 3",
		"c Excluded assigned ? current ? ready ? TargetNotFound"}, w.clusters())
	writes := w.hub.StatusWrites
	_ = w.reconcileN(10)
	w.restart()
	_ = w.reconcileN(2)
	if told := w.Heard(); len(told) > 0 || w.hub.StatusWrites > writes {
		t.Errorf("it is said again: %q, in %d writes", told, w.hub.StatusWrites-writes)
	}
}

// A silent cluster keeps its part, and nothing is scaled in for it. One that was known to lack the workload does not count.
func TestSilentWhileScaledInMembers(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 6, "b": 3}, plain)
	w.member("c")
	_ = w.reconcileN(1)
	w.members["c"].Silent = federatedhpatest.Silence()
	_ = w.reconcileN(1)
	same(t, "without one that lacks it", "Active 2/2 9->9 ScaledInMembers", say(&w.object().Status))
	w.restart()
	_ = w.reconcileN(1)
	same(t, "to another leader", "Active 2/2 9->9 ScaledInMembers", say(&w.object().Status))
	w.members["b"].Silent = federatedhpatest.Silence()
	w.wants(5)
	_ = w.reconcileN(60)
	same(t, "replicas when fewer are wanted", map[string]int32{"a": 6, "b": 3}, w.runs())
	w.wants(11)
	_ = w.reconcileN(1)
	same(t, "replicas when more are wanted", map[string]int32{"a": 8, "b": 3}, w.runs())
	w.members["b"].Silent = nil
	_ = w.reconcileN(1)
	same(t, "replicas when it is back", map[string]int32{"a": 8, "b": 3}, w.runs())
}

// A cluster that gets the workload counts, with the replicas that it has; one that loses it does not.
func TestComesAndGoesInMembers(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 6, "b": 3}, plain)
	w.member("c")
	w.wants(9)
	_ = w.reconcileN(1)
	w.member("c").deploy("web", 3)
	w.aged()
	w.wants(12) // the edit has all clusters asked
	_ = w.reconcileN(1)
	same(t, "replicas with one more", map[string]int32{"a": 6, "b": 3, "c": 3}, w.runs())
	same(t, "status with one more", "Active 3/3 12->12 ScaledInMembers", say(&w.object().Status))
	delete(w.members["b"].Workloads, "web")
	w.members["b"].run("web", 0)
	w.wants(12)
	_ = w.reconcileN(1)
	same(t, "replicas with one less", map[string]int32{"a": 8, "c": 4}, w.runs())
}

// The clusters that lack the workload are asked again less and less often, and notice a latecomer all the same.
func TestAbsentIsSeldomAsked(t *testing.T) {
	hour := int(time.Hour / period)
	for name, runs := range map[string]map[string]int32{"found nowhere": {}, "found elsewhere": {"a": 6}} {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, runs, plain)
			w.member("z")
			_ = w.reconcileN(hour)
			if n := w.members["z"].Reads; n < 12 || n > 18 {
				t.Errorf("it was asked %d times in %d reconciles", n, hour)
			}
			w.members["z"].Silent = federatedhpatest.Silence()
			_ = w.reconcileN(hour)
			w.members["z"].Silent = nil
			w.members["z"].deploy("web", 2)
			w.aged()
			_ = w.reconcileN(int(5*time.Minute/period) + 1)
			same(t, "condition", "True ScaledInMembers", w.says(v1alpha1.Propagated))
			if c := w.clusters(); !slices.Contains(c, "z Active assigned 2 current 2 ready 2") {
				t.Errorf("clusters: %q", c)
			}
		})
	}
}

// Nowhere is said with who was asked, and an edit has all asked again.
func TestFoundNowhere(t *testing.T) {
	w := inMembers(t, nil, plain)
	w.member("east")
	w.member("west").Silent = federatedhpatest.Silence()
	err := w.reconcileN(2)
	const want = `deployments.apps "web" not found on the hub, and none of the 2 selected clusters can scale it: east: TargetNotFound; west: Timeout`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	_ = w.reconcileN(100)
	asked := w.members["east"].Reads
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas++ })
	_ = w.reconcileN(1)
	if w.members["east"].Reads != asked+1 {
		t.Error("after an edit nobody is asked")
	}
}

// The hub gets the workload, which first asks for what its manifest says: no Pod moves, and then the hub is told.
func TestTheHubTakesOver(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 6, "west": 4}, plain)
	_ = w.reconcileN(2)
	w.Heard()
	w.hub.workloads[web] = &federatedhpatest.Workload{Replicas: 1, Selector: "app=web"}
	_ = w.reconcileN(1)
	same(t, "what the hub was told", []int32{10}, w.hub.workloads[web].Writes)
	same(t, "status", "Active 2/2 10->10", say(&w.object().Status))
	if told := w.Heard(); !slices.Contains(told, `ScaledOnHub: Deployment "web" is on the hub now: its replicas are set there, `+
		"for whoever propagates it to the clusters") {
		t.Errorf("Events: %q", told)
	}
	w.usesPercent(75)
	_ = w.reconcileN(2)
	same(t, "what the hub was told later", []int32{10, 15}, w.hub.workloads[web].Writes)
	if len(w.wrote) > 0 {
		t.Errorf("the members were told, too: %q", w.wrote)
	}
	delete(w.hub.workloads, web)
	_ = w.reconcileN(1)
	same(t, "condition without the hub", "True ScaledInMembers", w.says(v1alpha1.Propagated))
}

// A hub that cannot be read says nothing of where the workload is.
func TestAHubThatFailsIsNoHubWithout(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 6, "west": 4}, plain)
	_ = w.reconcileN(1)
	asked := w.members["east"].Reads
	w.hub.failGet = func() error { return errors.New("timeout") }
	w.wants(30)
	_ = w.reconcileN(2)
	same(t, "replicas", map[string]int32{"east": 6, "west": 4}, w.runs())
	same(t, "condition", "True ScaledInMembers", w.says(v1alpha1.Propagated))
	if w.members["east"].Reads != asked {
		t.Error("members were asked")
	}
}

// Who only observes tells the hub nothing.
func TestTheHubTakesOverFromWhoObserves(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 6, "west": 4}, plain)
	_ = w.reconcileN(2)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Mode = v1alpha1.ModeObserve })
	w.hub.workloads[web] = &federatedhpatest.Workload{Replicas: 1, Selector: "app=web"}
	_ = w.reconcileN(2)
	if n := w.hub.workloads[web].Replicas; n != 1 {
		t.Errorf("the hub is told %d", n)
	}
}

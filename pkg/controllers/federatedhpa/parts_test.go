// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// by is a division of that type.
func by(kind v1alpha1.ReplicaDistributionType, preferences ...v1alpha1.TargetClusterAutoscalingPreference) func(*v1alpha1.FederatedHPA) {
	return func(f *v1alpha1.FederatedHPA) {
		f.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: kind, ClusterAutoscalingPreference: preferences}
	}
}

// prefer is a preference of one cluster.
func prefer(cluster string, change func(*v1alpha1.TargetClusterAutoscalingPreference)) v1alpha1.TargetClusterAutoscalingPreference {
	p := v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{cluster}}}
	change(&p)
	return p
}

func weight(cluster string, n int32) v1alpha1.TargetClusterAutoscalingPreference {
	return prefer(cluster, func(p *v1alpha1.TargetClusterAutoscalingPreference) { p.StaticWeight = &n })
}

func priority(cluster string, n int32) v1alpha1.TargetClusterAutoscalingPreference {
	return prefer(cluster, func(p *v1alpha1.TargetClusterAutoscalingPreference) { p.Priority = &n })
}

func atMost(cluster string, n int32) v1alpha1.TargetClusterAutoscalingPreference {
	return prefer(cluster, func(p *v1alpha1.TargetClusterAutoscalingPreference) { p.AutoscalingMaxThreshold = &n })
}

func wants(n int32) func(*world) { return func(w *world) { w.wants(n) } }

// wants makes the metrics call for so many replicas in all.
func (w *world) wants(n int32) {
	w.edit(func(s *v1alpha1.FederatedHPASpec) {
		s.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.Queue("1")}
	})
	w.values = []int64{int64(n) * 1000}
}

// What each type makes of a new total, after one reconcile.
func TestDivision(t *testing.T) {
	even := map[string]int32{"a": 4, "b": 4}
	tests := map[string]struct {
		runs    map[string]int32
		by      func(*v1alpha1.FederatedHPA)
		arrange func(*world)
		want    map[string]int32
	}{
		"equal without weights":     {even, by("StaticWeighted"), wants(12), map[string]int32{"a": 6, "b": 6}},
		"no type is StaticWeighted": {even, by(""), wants(12), map[string]int32{"a": 6, "b": 6}},
		"by weights, moving none":   {even, by("StaticWeighted", weight("a", 3), weight("b", 1)), wants(12), map[string]int32{"a": 8, "b": 4}},
		"by weights, down to zero of one": {even, by("StaticWeighted", weight("a", 1), weight("b", 0)),
			func(w *world) { w.wants(8); w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 5 }) }, map[string]int32{"a": 4, "b": 1}},
		"by load": {even, by("LoadWeighted"), func(w *world) {
			w.use = func(cluster, _ string) int64 {
				return map[string]int64{"a": 600, "b": 200}[cluster] / int64(len(w.members[cluster].pods))
			}
		}, map[string]int32{"a": 12, "b": 4}},
		"one cluster after the other, on the way up": {even, by("Prioritized", priority("a", 1), priority("b", 2)), wants(12),
			map[string]int32{"a": 4, "b": 8}},
		"the last first, on the way down": {even, by("Prioritized", priority("a", 1), priority("b", 2)),
			func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 5 }) }, map[string]int32{"a": 1, "b": 4}},
		"within their bounds": {even, by("StaticWeighted", atMost("a", 5), atMost("b", 7)), wants(12),
			map[string]int32{"a": 5, "b": 7}},
		"a bound that was lowered moves": {even, by("StaticWeighted", atMost("a", 2), weight("b", 1)), wants(8),
			map[string]int32{"a": 2, "b": 6}},
		"the few that run most stay, when aggregated": {map[string]int32{"a": 6, "b": 2}, by("Aggregated"),
			func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 5 }) }, map[string]int32{"a": 5, "b": 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, tc.runs, tc.by)
			tc.arrange(w)
			if err := w.reconcileN(1); err != nil {
				t.Error(err)
			}
			same(t, "replicas", tc.want, w.runs())
			wrote := len(w.wrote)
			w.Heard()
			_ = w.reconcileN(3)
			same(t, "Events when nothing changes", nil, w.Heard())
			if more := w.wrote[wrote:]; len(more) > 0 {
				t.Errorf("nothing changes, and written is %v", more)
			}
		})
	}
}

// Who gains is told before who loses. On the way down nothing moves at the same sync.
func TestOrderOfWrites(t *testing.T) {
	tests := map[string]struct {
		wants int32
		most  int32
		want  string
	}{
		"up":                    {16, 100, "b 4 to 15, a 4 to 1"},
		"moving":                {8, 100, "b 4 to 7, a 4 to 1"},
		"down, and then moving": {8, 6, "a 4 to 2, b 4 to 5, a 2 to 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("StaticWeighted", atMost("a", 1), weight("b", 1)))
			w.wants(tc.wants)
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = tc.most })
			_ = w.reconcileN(2)
			same(t, "writes", tc.want, strings.Join(w.wrote, ", "))
		})
	}
}

// A member that cannot be told is told at the next sync; until then nobody makes up for it, and people know.
func TestAMemberThatCanNotBeTold(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4, "c": 4})
	w.members["b"].FailSet = func() error { return errors.New("no") }
	w.wants(18)
	err := w.reconcileN(1)
	if err == nil || !strings.Contains(err.Error(), "cluster b: no") {
		t.Errorf("error %v", err)
	}
	same(t, "replicas", map[string]int32{"a": 6, "b": 4, "c": 6}, w.runs())
	same(t, "status", "Active 3/3 12->18", say(&w.object().Status))
	same(t, "clusters", []string{"a Active assigned 6 current 4 ready 4", "b Active assigned 4 current 4 ready 4 FailedUpdateScale",
		"c Active assigned 6 current 4 ready 4"}, w.clusters())
	same(t, "Events", []string{
		"SuccessfulRescale: New size: 16; reason: external metric queue(nil) above target",
		"!FailedRescale: some clusters could not be scaled: cluster b: no"}, w.Heard())
	_ = w.reconcileN(2)
	same(t, "replicas while it fails", map[string]int32{"a": 6, "b": 4, "c": 6}, w.runs())
	w.members["b"].FailSet = nil
	_ = w.reconcileN(2)
	if got := w.runs(); got["a"]+got["b"]+got["c"] != 18 {
		t.Errorf("replicas %v", got)
	}
	same(t, "clusters", true, !strings.Contains(strings.Join(w.clusters(), " "), "FailedUpdateScale"))
}

// What a member was told is known although the status could not be stored, and although the member is silent since.
func TestToldButNotStored(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4})
	_ = w.reconcileN(1)
	w.wants(16)
	w.hub.FailStatus = func() error { return errors.New("no") }
	_ = w.reconcileN(1)
	w.hub.FailStatus = nil
	w.members["b"].Silent = federatedhpatest.Silence()
	w.wants(40)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 20 })
	_ = w.reconcileN(1)
	same(t, "replicas", map[string]int32{"a": 12, "b": 8}, w.runs())
	same(t, "clusters", "b Unreachable assigned 8 current 4 ready 8 Timeout", w.clusters()[1])
}

// On the way down, what is to move waits: more would be taken away than are too many, if the others cannot be told.
func TestDownAndMoving(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 20, "b": 0})
	w.edit(func(s *v1alpha1.FederatedHPASpec) {
		s.MaxReplicas = 19
		s.ReplicaDistribution.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{atMost("a", 3), weight("b", 1)}
	})
	w.members["b"].FailSet = func() error { return errors.New("no") }
	_ = w.reconcileN(5)
	same(t, "replicas", map[string]int32{"a": 19, "b": 0}, w.runs())
	w.members["b"].FailSet = nil
	_ = w.reconcileN(1)
	same(t, "replicas", map[string]int32{"a": 3, "b": 16}, w.runs())
}

// Where a replica moves, it is not taken away while the cluster that is to run it instead cannot be told.
func TestNothingIsTakenAwayInVain(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 5, "b": 5}, by("StaticWeighted", atMost("a", 2), weight("b", 1)))
	w.members["b"].FailSet = func() error { return errors.New("no") }
	_ = w.reconcileN(40)
	same(t, "replicas", map[string]int32{"a": 5, "b": 5}, w.runs())
	w.members["b"].FailSet = nil
	_ = w.reconcileN(1)
	same(t, "replicas", map[string]int32{"a": 2, "b": 8}, w.runs())
	same(t, "Events", true, strings.Contains(fmt.Sprint(w.Heard()), "ReplicasMoved: a: 5 to 2, b: 5 to 8"))
}

// Somebody else writes a member's workload at the same time: the decision holds. If he wrote the same, nothing is written.
func TestConflictInAMember(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4})
	w.wants(12)
	one, times := w.members["a"], 0
	one.FailSet = func() error {
		if times++; times == 1 {
			one.Workloads["web"].ByHand(5)
		}
		return nil
	}
	if err := w.reconcileN(1); err != nil {
		t.Error(err)
	}
	same(t, "replicas", map[string]int32{"a": 6, "b": 6}, w.runs())
	w.wants(16)
	one.FailSet = func() error {
		if times++; times == 3 {
			one.Workloads["web"].ByHand(8)
		}
		return nil
	}
	if err := w.reconcileN(1); err != nil {
		t.Error(err)
	}
	same(t, "replicas", map[string]int32{"a": 8, "b": 8}, w.runs())
	same(t, "what was written", []int32{6}, one.Workloads["web"].Writes)
}

// How a cluster takes part, and what becomes of the others.
func TestPartsOfClusters(t *testing.T) {
	three := map[string]int32{"a": 4, "b": 4, "c": 4}
	refused := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments/scale"}, "web", errors.New("no rights"))
	tests := map[string]struct {
		by       func(*v1alpha1.FederatedHPA)
		arrange  func(*world)
		want     map[string]int32
		status   string
		clusters string // the last one
	}{
		"silent, on the way up": {nil, func(w *world) { w.reconcileN(1); w.members["c"].Silent = federatedhpatest.Silence(); w.wants(20) },
			map[string]int32{"a": 8, "b": 8, "c": 4}, "Active 2/3 12->20 ClusterUnreachable", "c Unreachable assigned 4 current 4 ready 4 Timeout"},
		"silent, on the way down": {nil, func(w *world) {
			w.reconcileN(30)
			w.members["c"].Silent = federatedhpatest.Silence()
			w.wants(6)
			w.reconcileN(50)
		},
			map[string]int32{"a": 4, "b": 4, "c": 4}, "Held 2/3 12->12 ClusterUnreachable", "c Unreachable assigned 4 current 4 ready 4 Timeout"},
		"silent, with fewer allowed": {nil, func(w *world) {
			w.reconcileN(1)
			w.members["c"].Silent = federatedhpatest.Silence()
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 6 })
		}, map[string]int32{"a": 1, "b": 1, "c": 4}, "Active 2/3 12->6", "c Unreachable assigned 4 current 4 ready 4 Timeout"},
		"silent from before a new leader": {nil, func(w *world) {
			w.reconcileN(1)
			w.members["c"].Silent = federatedhpatest.Silence()
			w.reconcileN(1)
			w.restart()
			w.wants(20)
		},
			map[string]int32{"a": 8, "b": 8, "c": 4}, "Active 2/3 12->20 ClusterUnreachable", "c Unreachable assigned 4 current 4 ready 4 Timeout"},
		"its scale is forbidden": {nil, func(w *world) { w.members["c"].FailGet = func() error { return refused }; w.wants(12) },
			map[string]int32{"a": 6, "b": 6, "c": 4}, "Active 2/3 8->12 ClusterUnreachable", "c Unreachable assigned ? current ? ready 4 Forbidden"},
		"without the workload": {nil, func(w *world) { delete(w.members["c"].Workloads, "web"); w.wants(12) },
			map[string]int32{"a": 6, "b": 6}, "Active 2/2 8->12", "c Excluded assigned ? current ? ready ? TargetNotFound"},
		"the workload is deleted there": {nil, func(w *world) { w.reconcileN(1); delete(w.members["c"].Workloads, "web"); w.wants(12) },
			map[string]int32{"a": 6, "b": 6}, "Active 2/2 8->12", "c Excluded assigned ? current ? ready ? TargetNotFound"},
		"not preferred": {by("StaticWeighted", weight("a", 1), weight("b", 1)), wants(12),
			map[string]int32{"a": 6, "b": 6, "c": 4}, "Active 2/2 8->12", "c Excluded assigned 4 current ? ready ? NotPreferred"},
		"scaled by a member's own": {nil, func(w *world) {
			w.members["c"].autoscalers = []autoscalingv2.CrossVersionObjectReference{{APIVersion: "apps/v1beta2", Kind: "Deployment", Name: "web"}}
			w.wants(16)
		}, map[string]int32{"a": 6, "b": 6, "c": 4}, "Active 3/3 12->16", "c Conflict assigned 4 current 4 ready 4 ScaledByOthers"},
		"another workload is scaled by a member's own": {nil, func(w *world) {
			w.members["c"].autoscalers = []autoscalingv2.CrossVersionObjectReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "db"}}
			w.wants(15)
		}, map[string]int32{"a": 5, "b": 5, "c": 5}, "Active 3/3 12->15", "c Active assigned 5 current 4 ready 4"},
		"with a bad apiVersion": {nil, func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.APIVersion = "a/b/c" }) },
			three, "Failing 3/3 0->0 FailedGetScale", "c Active assigned ? current ? ready ?"},
		"all are silent": {nil, func(w *world) {
			w.reconcileN(1)
			for _, m := range w.members {
				m.Silent = federatedhpatest.Silence()
			}
			w.wants(50)
		}, three, "Failing 0/3 12->12 FailedGetScale", "c Unreachable assigned 4 current 4 ready 4 Timeout"},
		"none has it": {nil, func(w *world) {
			for _, m := range w.members {
				clear(m.Workloads)
			}
		}, map[string]int32{}, "Failing 0/0 0->0 FailedGetScale", "c Excluded assigned ? current ? ready ? TargetNotFound"},
		"at their most, with more wanted": {by("StaticWeighted", atMost("a", 4), atMost("b", 4), atMost("c", 4)), wants(20),
			three, "Failing 3/3 12->0 FailedUpdateScale Thresholds", "c Active assigned 4 current 4 ready 4"},
		"scaled to zero by hand": {nil, func(w *world) {
			for _, m := range w.members {
				m.Workloads["web"].ByHand(0)
			}
		}, map[string]int32{"a": 0, "b": 0, "c": 0}, "Paused 3/3 0->0 ScalingDisabled", "c Active assigned 0 current 0 ready 4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.by == nil {
				tc.by = by("StaticWeighted")
			}
			w := inMembers(t, maps.Clone(three), tc.by)
			tc.arrange(w)
			_ = w.reconcileN(1)
			same(t, "replicas", tc.want, w.runs())
			same(t, "status", tc.status, say(&w.object().Status))
			all := w.clusters()
			same(t, "cluster", tc.clusters, all[len(all)-1])
		})
	}
}

// A cluster whose Pods find no node for the delay is full: others get what it cannot host. It gets more again once it has
// had room for a while.
func TestAFullCluster(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4})
	w.members["a"].room = 5
	w.wants(16)
	_ = w.reconcileN(1)
	same(t, "replicas at first", map[string]int32{"a": 8, "b": 8}, w.runs())
	_ = w.reconcileN(3)
	same(t, "replicas within the delay", map[string]int32{"a": 8, "b": 8}, w.runs())
	_ = w.reconcileN(1)
	same(t, "replicas after it", map[string]int32{"a": 5, "b": 11}, w.runs())
	same(t, "clusters", []string{"a Saturated assigned 5 current 8 ready 5 Unschedulable", "b Active assigned 11 current 8 ready 8"},
		w.clusters())
	same(t, "Event", true, strings.Contains(fmt.Sprint(w.Heard()), "!ClusterStateChanged: cluster a is Saturated: "))
	_ = w.reconcileN(1)
	w.wants(18)
	_ = w.reconcileN(2)
	same(t, "replicas while it is full", map[string]int32{"a": 5, "b": 13}, w.runs())
	w.restart()
	w.members["a"].room = 100
	_ = w.reconcileN(int(5*time.Minute/period) - 5)
	w.wants(20)
	_ = w.reconcileN(1)
	same(t, "replicas within the patience", map[string]int32{"a": 5, "b": 15}, w.runs())
	_ = w.reconcileN(5)
	w.wants(24)
	_ = w.reconcileN(1)
	same(t, "replicas once it has had room for long enough", map[string]int32{"a": 9, "b": 15}, w.runs())
}

// A rollout of a workload in a cluster that is nearly full has Pods beyond its replicas, which find no node. What runs is not
// moved for them.
func TestARolloutInAFullCluster(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 10, "b": 10})
	w.members["a"].room = 10
	w.members["a"].run("web", 13)
	_ = w.reconcileN(20)
	same(t, "replicas", map[string]int32{"a": 10, "b": 10}, w.runs())
}

// A StatefulSet loses its last Pods: where these are not those that wait, it stays as it is divided, and that is said.
func TestAFullClusterOfAStatefulSet(t *testing.T) {
	tests := map[string]struct {
		parallel bool
		want     map[string]int32
		said     string
	}{
		"OrderedReady": {false, map[string]int32{"a": 3, "b": 5}, ""},
		"Parallel": {true, map[string]int32{"a": 4, "b": 4}, "Pods find no node, and their replicas cannot go to other clusters: a:" +
			" spec.podManagementPolicy of StatefulSet \"web\" is Parallel, so it could lose a Pod that runs"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"a": 4, "b": 4}, func(f *v1alpha1.FederatedHPA) { f.Spec.ScaleTargetRef.Kind = "StatefulSet" })
			w.members["a"].room, w.members["a"].parallel = 3, tc.parallel
			_ = w.reconcileN(20)
			same(t, "replicas", tc.want, w.runs())
			same(t, "said", tc.said, summary.Condition(&w.object().Status, v1alpha1.PendingNotMovable).Message)
		})
	}
}

// A threshold applies to each cluster that an entry selects: what that leaves to the last ones is said.
func TestThresholdsThatCannotBeMet(t *testing.T) {
	floors := func(f *v1alpha1.FederatedHPA) {
		f.Spec.ReplicaDistribution.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{
			{TargetCluster: &v1alpha1.ClusterAffinity{}, AutoscalingMinThreshold: new(int32(3))}}
	}
	w := inMembers(t, map[string]int32{"a": 3, "b": 3, "c": 3}, floors)
	_ = w.reconcileN(2)
	same(t, "said while all have it", "", summary.Condition(&w.object().Status, v1alpha1.MinThresholdNotMet).Message)
	w = inMembers(t, map[string]int32{"a": 3, "b": 3, "c": 2}, floors)
	_ = w.reconcileN(2)
	same(t, "said", "autoscalingMinThreshold applies to each cluster that an entry selects, and adds up to 9, while what the fleet runs is 8:"+
		" c gets 2 of 3", summary.Condition(&w.object().Status, v1alpha1.MinThresholdNotMet).Message)
}

// With rebalance, replicas move to where they belong, a few at a time, each taken away only once another is Ready.
func TestRebalance(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 20, "b": 0}, by("StaticWeighted"),
		func(f *v1alpha1.FederatedHPA) { f.Spec.ReplicaDistribution.Rebalance = new(true) })
	w.wants(20)
	w.members["b"].startup = 40 * time.Second
	most, least := int32(0), int32(100)
	for range 400 {
		_ = w.reconcileN(1)
		runs := w.runs()
		most, least = max(most, runs["a"]+runs["b"]), min(least, runs["a"]+runs["b"])
	}
	runs := w.runs()
	if runs["a"] > 12 || runs["a"]+runs["b"] != 20 {
		t.Errorf("replicas %v", runs)
	}
	if most > 22 || least < 20 {
		t.Errorf("between %d and %d replicas ran", least, most)
	}
}

// While replicas move, their cluster fails: it runs what it was told, and the fleet does not grow.
func TestRebalanceIsInterrupted(t *testing.T) {
	tests := map[string]struct{ begin, end func(*fakeMember) }{
		"it cannot be told": {
			func(m *fakeMember) { m.FailSet = func() error { return errors.New("no") } }, func(m *fakeMember) { m.FailSet = nil }},
		"it is silent": {
			func(m *fakeMember) { m.Silent = federatedhpatest.Silence() }, func(m *fakeMember) { m.Silent = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"a": 20, "b": 0}, by("StaticWeighted"),
				func(f *v1alpha1.FederatedHPA) { f.Spec.ReplicaDistribution.Rebalance = new(true) })
			w.wants(20)
			w.members["b"].room = 0
			for i := 0; w.runs()["b"] == 0 && i < 100; i++ {
				_ = w.reconcileN(1)
			}
			same(t, "replicas while they move", map[string]int32{"a": 20, "b": 2}, w.runs())
			tc.begin(w.members["b"])
			_ = w.reconcileN(60)
			tc.end(w.members["b"])
			for range 60 {
				_ = w.reconcileN(1)
				if c := w.object().Status.CurrentReplicas; c != 20 {
					t.Fatalf("%d replicas", c)
				}
			}
		})
	}
}

// Who selects no cluster any more is told so, and no cluster stays in the status.
func TestNoClusterIsSelected(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4})
	_ = w.reconcileN(1)
	w.edit(func(s *v1alpha1.FederatedHPASpec) {
		s.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"c"}}
	})
	err := w.reconcileN(1)
	const want = "no registered cluster is selected for Deployment \"web\": compare spec.clusterAffinity with the registrations"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	same(t, "status", "Failing 0/0 8->8 FailedGetScale", say(&w.object().Status))
}

// Why nobody is told, where more or fewer are wanted.
func TestNobodyIsTold(t *testing.T) {
	own := []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
	tests := map[string]struct {
		arrange func(*world)
		want    string
	}{
		"all are at their most": {func(w *world) {
			w.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.ReplicaDistribution.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{atMost("a", 4), atMost("b", 4)}
			})
			w.wants(20)
		},
			"no cluster can take the replicas: all that can be scaled are at their autoscalingMaxThreshold"},
		"all have autoscalers": {func(w *world) { w.members["a"].autoscalers, w.members["b"].autoscalers = own, own; w.wants(20) },
			"no cluster can be scaled: status.clusters says why"},
		"the others are at zero": {func(w *world) {
			w.members["a"].autoscalers = own
			w.members["b"].deploy("web", 0)
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 3 })
		}, "no cluster that can be scaled runs a replica"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, map[string]int32{"a": 4, "b": 4})
			tc.arrange(w)
			if err := w.reconcileN(1); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if len(w.wrote) > 0 {
				t.Errorf("written is %v", w.wrote)
			}
		})
	}
}

// By what clusters can host; of one whose room is not known that is what it runs.
func TestDivisionByCapacity(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("DynamicWeighted"))
	w.members["a"].more, w.members["a"].roomKnown = 12, true
	w.wants(12)
	_ = w.reconcileN(1)
	same(t, "replicas", map[string]int32{"a": 8, "b": 4}, w.runs())
	a, b := w.object().Status.Clusters[0], w.object().Status.Clusters[1]
	if a.AvailableReplicas == nil || *a.AvailableReplicas != 16 || b.AvailableReplicas != nil {
		t.Errorf("available are %v and %v", a.AvailableReplicas, b.AvailableReplicas)
	}
}

// Replicas that are told and have no Pod yet will take room that still seems free.
func TestRoomForReplicasWithoutPods(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("DynamicWeighted"))
	a := w.members["a"]
	a.more, a.roomKnown, a.late = 12, true, 3
	_ = w.reconcileN(1)
	if n := w.object().Status.Clusters[0].AvailableReplicas; n == nil || *n != 13 {
		t.Errorf("available are %v, want 13", n)
	}
}

// That no cluster can take more is said, and taken back.
func TestAllClustersSaturated(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("StaticWeighted", atMost("a", 5), atMost("b", 5)))
	said := func() string {
		c := summary.Condition(&w.object().Status, v1alpha1.AllClustersSaturated)
		return fmt.Sprint(c.Status, " ", c.Reason, " ", c.LastTransitionTime.Sub(start))
	}
	w.wants(9)
	_ = w.reconcileN(1)
	before := said()
	w.wants(20)
	_ = w.reconcileN(1)
	since := w.Clock.Since(start)
	full := said()
	_ = w.reconcileN(3)
	same(t, "later", full, said())
	same(t, "full", "True Thresholds", full[:len("True Thresholds")])
	w.wants(9)
	_ = w.reconcileN(40)
	if before[0] != ' ' || since <= 0 || !strings.HasPrefix(said(), "False Room") {
		t.Errorf("before %q, after %q", before, said())
	}
}

// A cluster that adds nodes does not count as full, though those that it has are.
func TestAClusterThatAddsNodes(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("DynamicWeighted"))
	for _, m := range w.members {
		m.roomKnown = true
	}
	w.members["b"].Grows = 20
	w.wants(16)
	_ = w.reconcileN(20)
	same(t, "replicas", map[string]int32{"a": 4, "b": 12}, w.runs())
	same(t, "a can host", int32(4), *w.object().Status.Clusters[0].AvailableReplicas)
	same(t, "b can host", int32(32), *w.object().Status.Clusters[1].AvailableReplicas)
}

// What it promises and does not keep is found out, and it is doubted for longer each time.
func TestAClusterThatPromisesNodesAndAddsNone(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("DynamicWeighted"))
	w.members["a"].roomKnown, w.members["b"].roomKnown = true, true
	w.members["b"].Grows, w.members["b"].room, w.members["a"].more = 20, 4, 20
	w.wants(16)
	_ = w.reconcileN(3)
	if runs := w.runs(); runs["b"] <= 4 {
		t.Fatalf("b gets nothing, though it promises to add nodes: %v", runs)
	}
	_ = w.reconcileN(20)
	same(t, "replicas", map[string]int32{"a": 12, "b": 4}, w.runs())
	entered := 0
	for range 12 * 4 * 15 { // three hours
		before := w.object().Status.Clusters[1].State
		_ = w.reconcileN(1)
		if after := w.object().Status.Clusters[1].State; after == v1alpha1.ClusterSaturated && before != after {
			entered++
		}
	}
	if entered > 8 {
		t.Errorf("in three hours b was taken for one with room %d times", entered)
	}
}

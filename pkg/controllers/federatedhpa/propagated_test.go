// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// divides is what a propagator does: members are told the hub's replicas by halves, and run them as far as they may.
func (w *world) divides() {
	n := w.hub.workloads[web].Replicas
	for name, part := range map[string]int32{"east": n - n/2, "west": n / 2} {
		w.member(name).deploy("web", part)
	}
}

func (w *world) says(kind autoscalingv2.HorizontalPodAutoscalerConditionType) string {
	c := summary.Condition(&w.object().Status, kind)
	return strings.TrimSpace(fmt.Sprintf("%s %s", c.Status, c.Reason))
}

const grace = int(5 * time.Minute / period)

// What is said of a workload of the hub by when, and of whether members follow it.
func TestPropagated(t *testing.T) {
	busy := func(w *world) { w.usesPercent(75) } // from 10 replicas to 15
	tests := map[string]struct {
		arrange func(*world)
		each    func(w *world, reconcile int) // before each reconcile
		early   string                        // what is said just before the grace is over
		late    string                        // and long after
	}{
		"all is well":       {func(*world) {}, nil, "", ""},
		"nobody propagates": {busy, nil, "", "False NotPropagated"},
		"nothing runs at all": {func(w *world) {
			for _, m := range w.members {
				m.run("web", 0)
			}
		}, nil, "", "False NotPropagated"},
		"somebody does": {busy, func(w *world, _ int) { w.divides() }, "", ""},
		"somebody does, and takes his time": {busy, func(w *world, reconcile int) {
			if reconcile%10 == 9 {
				w.divides()
			}
		}, "", ""},
		"somebody does, one by one": {busy, func(w *world, reconcile int) {
			w.member("east").deploy("web", min(w.hub.workloads[web].Replicas-5, 5+int32(reconcile/10)))
			w.member("west").deploy("web", 5)
		}, "", ""},
		"somebody propagates without dividing": {busy, func(w *world, _ int) {
			for _, m := range w.members {
				m.deploy("web", w.hub.workloads[web].Replicas)
			}
		}, "", "False NotPropagated"},
		"Pods find no node": {func(w *world) { busy(w); w.member("east").room = 2 }, func(w *world, _ int) { w.divides() }, "", ""},
		"Pods are not made, as of a quota": {busy, func(w *world, _ int) {
			w.divides()
			w.member("east").run("web", 2)
		}, "", ""},
		"a rollout has more Pods": {busy, func(w *world, _ int) {
			w.divides()
			w.member("east").run("web", 12)
		}, "", ""},
		"a cluster is silent": {func(w *world) {
			w.member("west").Silent = federatedhpatest.Silence()
			w.hub.workloads[web].ByHand(
				12)
		}, nil, "", ""},
		"Pods of a cluster were never seen": {func(w *world) { busy(w); w.member("west").hidden = federatedhpatest.Silence() }, nil, "", ""},
		"a cluster does not say what it was told": {func(w *world) {
			busy(w)
			w.member("west").FailGet = func() error { return errors.New("403 Forbidden") }
		}, nil, "", ""},
		"the hub cannot be read between two reconciles": {busy, func(w *world, reconcile int) {
			w.hub.failGet = nil
			if reconcile%15 == 14 {
				w.hub.failGet = func() error { return errors.New("timeout") }
			}
		}, "", ""},
		"a cluster is told its part directly": {func(w *world) {
			busy(w)
			w.divides()
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ReplicaDistribution = &v1alpha1.ReplicaDistribution{} })
		}, nil, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			tc.arrange(w)
			reconcile := func(n int) {
				for i := range n {
					if tc.each != nil {
						tc.each(w, i)
					}
					_ = w.reconcileN(1)
				}
			}
			reconcile(grace)
			same(t, "early", tc.early, w.says(v1alpha1.Propagated))
			reconcile(3 * grace)
			same(t, "late", tc.late, w.says(v1alpha1.Propagated))
			told := slices.DeleteFunc(w.Heard(), func(e string) bool { return !strings.HasPrefix(e, "!NotPropagated: ") })
			if want := tc.late != ""; len(told) > 1 || want != (len(told) == 1) {
				t.Errorf("Events: %q", told)
			}
		})
	}
}

// It is said what is wrong and what to do, once, and that it is fixed.
func TestPropagatedIsSaid(t *testing.T) {
	w := onHub(t)
	w.usesPercent(75)
	_ = w.reconcileN(grace + 2)
	s := w.object().Status
	same(t, "status", "Failing 2/2 15->15 NotPropagated", say(&s))
	want := "the workload on the hub specifies 15 replicas, and those in the 2 selected clusters 0 in total: " +
		"have the workload propagated to them and its replicas divided, as Karmada does, or set spec.replicaDistribution to have " +
		"each cluster scaled"
	same(t, "message", want, summary.Condition(&s, v1alpha1.Propagated).Message)
	if told := w.Heard(); !slices.Contains(told, "!NotPropagated: "+want) {
		t.Errorf("Events: %q", told)
	}
	writes := w.hub.StatusWrites
	w.restart()
	_ = w.reconcileN(2 * grace)
	same(t, "status to another leader", "Failing 2/2 15->15 NotPropagated", say(&w.object().Status))
	if told := w.Heard(); len(told) > 0 || w.hub.StatusWrites > writes+1 {
		t.Errorf("it is said again: %q, in %d writes", told, w.hub.StatusWrites-writes)
	}
	w.member("west").Silent = federatedhpatest.Silence()
	_ = w.reconcileN(2)
	same(t, "while nobody knows", "False NotPropagated", w.says(v1alpha1.Propagated))
	w.member("west").Silent = nil
	w.usesPercent(50)
	w.divides()
	_ = w.reconcileN(2)
	same(t, "status with a propagator", "Active 2/2 15->15 MembersFollow", say(&w.object().Status))
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ReplicaDistribution = &v1alpha1.ReplicaDistribution{} })
	_ = w.reconcileN(2)
	same(t, "status without a need for one", "Active 2/2 15->15", say(&w.object().Status))
}

// As long as members follow they are not asked.
func TestFollowersAreNotAsked(t *testing.T) {
	w := onHub(t)
	_ = w.reconcileN(3)
	w.member("east").room = 2 // Pods that wait are Pods
	_ = w.reconcileN(3)
	if n := w.member("east").Reads + w.member("west").Reads; n > 0 {
		t.Errorf("members were asked %d times", n)
	}
}

func TestPreferencesOfParts(t *testing.T) {
	prefers := func(names ...string) func(*v1alpha1.FederatedHPASpec) {
		return func(s *v1alpha1.FederatedHPASpec) {
			s.ReplicaDistribution.ClusterAutoscalingPreference = nil
			for _, name := range names {
				s.ReplicaDistribution.ClusterAutoscalingPreference = append(s.ReplicaDistribution.ClusterAutoscalingPreference,
					v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{name}},
						StaticWeight: new(int32(1))})
			}
		}
	}
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	w.edit(prefers("east", "west"))
	_ = w.reconcileN(2)
	same(t, "at first", "Active 2/2 10->10", say(&w.object().Status))
	w.edit(prefers("east", "west", "north"))
	_ = w.reconcileN(2)
	same(t, "with one more", "Active 2/2 10->10 SelectsNoCluster", say(&w.object().Status))
	same(t, "message", `of the 2 clusters that the FederatedHPA selects, none is selected by clusterAutoscalingPreference[2] {"clusterNames":["north"]}: `+
		"compare that with the names, labels and annotations (fleetscale.io/provider, region, zones) of their registrations",
		summary.Condition(&w.object().Status, v1alpha1.PreferenceUnmatched).Message)
	w.member("north").deploy("web", 1)
	w.aged()
	_ = w.reconcileN(2)
	same(t, "once it is there", "False AllMatched", w.says(v1alpha1.PreferenceUnmatched))
	w.hub.workloads[web] = federatedhpatest.NewWorkload("web", 11)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ReplicaDistribution = nil })
	_ = w.reconcileN(2)
	same(t, "where there are no preferences", "", w.says(v1alpha1.PreferenceUnmatched))
}

// Pods that wait cost the members next to nothing.
func TestPropagatedIsSeldomAsked(t *testing.T) {
	w := onHub(t)
	w.divides()
	w.member("east").run("web", 2)
	_ = w.reconcileN(grace)
	for name, m := range w.members {
		if m.Reads > 5 {
			t.Errorf("%s was asked %d times in %d reconciles", name, m.Reads, grace)
		}
	}
}

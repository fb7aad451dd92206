// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

var anyPolicy = []v1alpha1.FederatedHPAAssignmentType{"Duplicated", "StaticWeighted", "DynamicWeighted", "Aggregated", "Prioritized"}

// refusing has a member refuse writes of that kind: apply, scale, create, delete; empty: all.
func refusing(m *member, kind string) {
	m.refuses = func(what string) error {
		if kind == "" || kind == what {
			return errRefused
		}
		return nil
	}
}

// carries lets a load, in percent of what one Pod requests, go to all Pods alike.
func carries(w *world, load int32) {
	w.uses = func(*member) int32 {
		all := int32(0)
		for _, m := range w.members {
			if m.deployment() != nil {
				all += m.deployment().Replicas
			}
		}
		return load / max(1, all)
	}
}

// A cluster that refuses forever costs the others no Pod again and again, and nobody hears of it again and again.
func TestRefusalForEver(t *testing.T) {
	ever := 400 // reconciles
	if testing.Short() {
		ever = 120
	}
	for i, policy := range anyPolicy {
		for j, kind := range []string{"", "apply", "create"} {
			if testing.Short() && (i+j)%3 > 0 {
				continue // each policy, and each kind, once or twice
			}
			t.Run(fmt.Sprintf("%s %s", policy, kind), func(t *testing.T) {
				w := fleetOf(t, policy, map[string]int32{"a": 2}, bounds(2, 20))
				w.hub.workload = template(nil)
				refusing(w.member("b"), kind)
				carries(w, 1000)
				_ = w.reconcileN(60)
				w.Heard()
				w.writes()
				had := w.members["a"].deployment().Replicas
				for range ever {
					_ = w.reconcileN(1)
					if now := w.members["a"].deployment().Replicas; now < had {
						t.Fatalf("a runs %d, and ran %d: %q", now, had, w.Heard())
					}
				}
				if heard := w.Heard(); len(heard) > 4 {
					t.Errorf("heard %d times: %q", len(heard), heard)
				}
				if writes := w.writes(); len(writes) > 8 {
					t.Errorf("%d writes: %q", len(writes), writes)
				}
				w.restart()
				_ = w.reconcileN(40)
				if now := w.members["a"].deployment().Replicas; now < had {
					t.Errorf("a runs %d after a restart, and ran %d: %q", now, had, w.Heard())
				}
				w.member("b").refuses = nil
				w.mustReconcile(60)
				if got := clusterOf(w, "b"); got.Reason == reasonFailedWrite || got.AssignedReplicas != nil {
					t.Errorf("b, once it takes all: %v", w.clusters())
				}
			})
		}
	}
}

// What a cluster takes is another thing than what it refused: it is asked for that, before others give anything up for it.
func TestRefusalOfAValue(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(4)
	w.member("b").refusesHPA = func(hpa *autoscalingv2.HorizontalPodAutoscaler) error {
		if hpa.Spec.MaxReplicas > 9 {
			return errRefused
		}
		return nil
	}
	w.edit(bounds(2, 40))
	_ = w.reconcileN(40)
	w.member("a").scales = false
	same(t, "there is", map[string]string{"a": "web 1-35, runs 2", "b": "web 1-5, runs 2"}, w.has())
	w.Heard()
	w.writes()
	_ = w.reconcileN(300)
	same(t, "heard", nil, w.Heard())
	same(t, "written", nil, w.writes())
	w.member("b").refusesHPA = nil
	w.mustReconcile(4)
	same(t, "there is when it takes it", map[string]string{"a": "web 1-20, runs 2", "b": "web 1-20, runs 2"}, w.has())
}

// asleep is a cluster that runs nothing.
func (w *world) asleep() (found string) {
	w.T.Helper()
	for name, m := range w.members {
		if m.deployment().Replicas == 0 {
			found = name
		}
	}
	if found == "" {
		w.T.Fatalf("all run something: %v", w.has())
	}
	return found
}

// A cluster that refuses to wake is told again at each reconcile, and reported once.
func TestRefusalToWake(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, bounds(1, 12))
	carries(w, 10)
	_ = w.reconcileN(120)
	asleep := w.asleep()
	asked := 0
	w.member(asleep).refuses = func(what string) error {
		if what == "scale" {
			asked++
			return errRefused
		}
		return nil
	}
	carries(w, 600)
	_ = w.reconcileN(20)
	w.Heard()
	w.writes()
	asked = 0
	_ = w.reconcileN(100)
	same(t, "how often it was told", 100, asked)
	same(t, "heard", nil, w.Heard())
	same(t, "written", nil, w.writes())
}

// The words of an error need not be the same each time.
func TestRefusalInOtherWords(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(3)
	times := 0
	w.member("b").refuses = func(string) error {
		times++
		return fmt.Errorf("read tcp 10.0.0.1:%d: connection reset", 40000+times)
	}
	w.edit(bounds(2, 20))
	_ = w.reconcileN(3)
	w.writes()
	_ = w.reconcileN(15)
	same(t, "written", nil, w.writes())
}

// A cluster that is to leave and does not let our autoscaler go is reported, and so is what it may run.
func TestRefusalToLeaveIsSaid(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 20))
	w.mustReconcile(3)
	refusing(w.member("b"), "")
	w.edit(only("a"))
	_ = w.reconcileN(40)
	same(t, "there is", map[string]string{"a": "web 2-20, runs 2", "b": "web 1-10, runs 2"}, w.has())
	same(t, "beyond the maximum", int32(10), ptr.Deref(w.object().Status.Assignment.UnreachableMax, 0))
	if able := w.condition(autoscalingv2.AbleToScale); !strings.HasPrefix(able, "False FailedWrite") || !strings.Contains(able, "b: refused") {
		t.Errorf("AbleToScale is %s", able)
	}
}

func TestWhoLeavesIsNotBeyondTheMaximum(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 20))
	w.mustReconcile(3)
	w.edit(only("a"))
	for range 3 {
		w.mustReconcile(1)
		same(t, "beyond the maximum", nil, w.object().Status.Assignment.UnreachableMax)
	}
}

// One write that fails undoes nothing that was moved before.
func TestOneRefusalUndoesNothing(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 5, "b": 1}, func(f *v1alpha1.FederatedHPA) {
		f.Spec.FederatedHPAAssignment.Rebalance = &v1alpha1.Rebalance{Strategy: v1alpha1.RebalanceDemand, IntervalSeconds: new(int32(15))}
	})
	w.uses = func(m *member) int32 { return map[string]int32{"a": 100, "b": 10}[m.About.Name] }
	_ = w.reconcileN(60)
	before := w.has()
	if slices.Contains([]string{before["a"]}, "web 1-5, runs 5") {
		t.Fatalf("a got nothing of b's: %v", before)
	}
	refusing(w.member("b"), "apply")
	w.edit(func(f *v1alpha1.FederatedHPA) {
		f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("1000"))
	})
	_ = w.reconcileN(1)
	after := w.has()
	w.member("b").refuses = nil
	w.mustReconcile(4)
	same(t, "a has what the edit left it", after["a"], w.has()["a"])
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"iter"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// moves are reconciles that do something; of each is said what there is in the end.
var moves = map[string]struct {
	world func(testing.TB) *world
	act   func(*world) // just before the reconcile
	ends  map[string]string
}{
	"the first split": {
		func(t testing.TB) *world {
			return fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 0, "c": 3})
		}, nil,
		map[string]string{"a": "web 1-3, runs 2", "b": "web 1-3, runs 1", "c": "web 1-4, runs 3"}},
	"other weights": {
		settledFleet("StaticWeighted", weighs(map[string]int32{"a": 1, "b": 2, "c": 3})),
		func(w *world) { w.edit(weighs(map[string]int32{"a": 3, "b": 2, "c": 1})) },
		map[string]string{"a": "web 1-5, runs 2", "b": "web 1-4, runs 2", "c": "web 1-1, runs 2"}},
	"less for all": {
		settledFleet("StaticWeighted"), func(w *world) { w.edit(bounds(1, 3)) },
		map[string]string{"a": "web 1-1, runs 2", "b": "web 1-1, runs 2", "c": "web 1-1, runs 2"}},
	"two leave": {
		settledFleet("StaticWeighted"), func(w *world) { w.edit(only("b")) },
		map[string]string{"a": "runs 2", "b": "web 2-10, runs 2", "c": "runs 2"}},
	"one leaves whose workload we made": {
		settledFleet("StaticWeighted"), func(w *world) {
			w.member("a").deployment().Labels = managed
			w.edit(only("b", "c"))
		},
		map[string]string{"a": "no workload", "b": "web 1-5, runs 2", "c": "web 1-5, runs 2"}},
	"a workload is made": {
		func(t testing.TB) *world {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2}, bounds(1, 10))
			w.member("b")
			w.hub.workload = template(nil)
			return w
		}, nil,
		map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 1"}},
	"one spills over": {
		func(t testing.TB) *world {
			w := settledFleet("Prioritized", ranks(map[string]int32{"a": 2, "b": 1, "c": 1}))(t)
			w.member("a").room = 1
			w.reconcile()
			w.Clock.SetTime(w.Clock.Now().Add(5 * period))
			return w
		}, nil,
		map[string]string{"a": "web 1-1 held, runs 2", "b": "web 1-2, runs 2", "c": "web 2-7, runs 2"}},
	"one is adopted": {
		settledFleet("StaticWeighted", only("a", "b")), func(w *world) {
			w.member("c").add("legacy", "web", map[string]string{v1alpha1.AdoptByAnnotation: "web"})
			w.edit(only("a", "b", "c"))
		},
		map[string]string{"a": "web 1-3, runs 2", "b": "web 1-3, runs 2", "c": "legacy 1-4, runs 2"}},
	"one comes back from zero": {
		func(t testing.TB) *world {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 0, "b": 2}, toZero)
			w.mustReconcile(1)
			w.member("b").unready = 2
			w.member("b").room = 1
			w.reconcile()
			w.Clock.SetTime(w.Clock.Now().Add(5 * period))
			return w
		}, nil,
		map[string]string{"a": "web 1-5, runs 1", "b": "web 1-5, runs 2"}},
	"the object is deleted": {
		settledFleet("StaticWeighted"), func(w *world) { w.hub.Remove(web) },
		map[string]string{"a": "runs 2", "b": "runs 2", "c": "runs 2"}},
	"the object is deleted, and leaves its autoscalers": {
		settledFleet("StaticWeighted", func(f *v1alpha1.FederatedHPA) { f.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan }),
		func(w *world) { w.hub.Remove(web) },
		map[string]string{"a": "web 1-3 free, runs 2", "b": "web 1-3 free, runs 2", "c": "web 1-4 free, runs 2"}},
	"central mode": {
		settledFleet("StaticWeighted"), func(w *world) {
			w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = nil })
		},
		map[string]string{"a": "runs 2", "b": "runs 2", "c": "runs 2"}},
}

// settledFleet is one of three clusters, each with its autoscaler, which has nothing to do.
func settledFleet(policy v1alpha1.FederatedHPAAssignmentType, change ...func(*v1alpha1.FederatedHPA)) func(testing.TB) *world {
	return func(t testing.TB) *world {
		w := fleetOf(t, policy, map[string]int32{"a": 2, "b": 2, "c": 2}, change...)
		w.settle(4)
		return w
	}
}

// move is one reconcile, in the mode that the object is of.
func (w *world) move() {
	if w.hub.Objects[web] != nil && !w.hub.Objects[web].Distributed() && w.hub.Objects[web].DeletionTimestamp == nil {
		if len(w.hub.Objects[web].Finalizers) > 0 {
			_, _ = w.leave()
		}
		return
	}
	_ = w.reconcile()
}

// eachCall yields the calls that a move may end at, from 0, which is none, for as long as it makes so many. In the short form it is every
// third: in each of three tests others.
func eachCall(which int) iter.Seq[int] {
	every := 1
	if testing.Short() {
		every = 3
	}
	return func(yield func(int) bool) {
		for call := which % every; yield(call); call += every {
		}
	}
}

// A program that ends at any call, carried out or not, leaves behind what the next one completes, and the maxima are never
// too many on the way.
func TestProgramThatEndsAtAnyCall(t *testing.T) {
	for name, tc := range moves {
		for which, unanswered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the last call is carried out: %v", name, unanswered), func(t *testing.T) {
				for dies := range eachCall(which) {
					w := tc.world(t)
					for _, m := range w.members {
						m.scales = false
					}
					if tc.act != nil {
						tc.act(w)
					}
					w.calls, w.dies, w.unanswered = 0, dies, unanswered
					w.move()
					calls := w.calls
					w.dies = 0
					w.restart()
					for range 4 {
						w.passes(period)
						w.move()
					}
					same(t, fmt.Sprintf("there is, after an end at call %d", dies), tc.ends, w.has())
					if t.Failed() || calls < dies {
						return
					}
				}
			})
		}
	}
}

// The same, where the program continues: every call fails once.
func TestEveryCallFailsOnce(t *testing.T) {
	for name, tc := range moves {
		if name == "one spills over" {
			continue // where to depends on what is known of the others
		}
		t.Run(name, func(t *testing.T) {
			for dies := range eachCall(2) {
				w := tc.world(t)
				for _, m := range w.members {
					m.scales = false
				}
				if tc.act != nil {
					tc.act(w)
				}
				w.calls, w.dies, w.once = 0, dies, true
				w.move()
				calls := w.calls
				for range 4 {
					w.passes(period)
					w.move()
				}
				same(t, fmt.Sprintf("there is, after call %d failed", dies), tc.ends, w.has())
				if t.Failed() || calls < dies {
					return
				}
			}
		})
	}
}

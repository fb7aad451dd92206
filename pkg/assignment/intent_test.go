// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"maps"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func refusing(s *Site)          { s.Presence = Refusing }
func toSleep(s *Site)           { s.Ordered = new(int32) }
func balks(s *Site)             { s.Balks = true }
func stands(n int32) siteChange { return func(s *Site) { s.Stands = n } }

func TestLapsed(t *testing.T) {
	quiet := func(s *Snapshot) { low(s); toZero(s) }
	demand := func(s *Snapshot) { s.Rebalance.Strategy = v1alpha1.RebalanceDemand }
	tests := map[string]struct {
		s      Snapshot
		orders []string
		bounds bool
	}{
		"to zero as when it was told": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, ratio(400), toSleep), site("b", 1, 3, 1, ratio(400)),
			site("c", 1, 4, 1, ratio(400))).change(quiet),
			nil, false},
		"to zero, and it runs more by now": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 2, ratio(400), toSleep),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 1, ratio(400))).change(quiet),
			[]string{"a"}, false},
		"to zero, and another runs more by now": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, ratio(400), toSleep),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 2, ratio(400))).change(quiet),
			[]string{"a"}, false},
		"to zero, and the others can just carry the load": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, ratio(600), toSleep),
			site("b", 1, 3, 1, ratio(700)), site("c", 1, 4, 1, ratio(700))).change(quiet),
			nil, false},
		"to zero, and the others could not carry the load": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, ratio(601), toSleep),
			site("b", 1, 3, 1, ratio(700)), site("c", 1, 4, 1, ratio(700))).change(quiet),
			[]string{"a"}, false},
		"to zero, and the load has not been low for long": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, ratio(400), toSleep),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 1, ratio(400))).change(toZero),
			[]string{"a"}, false},
		"to zero, and the load is not known": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, toSleep), site("b", 1, 3, 1, ratio(400)),
			site("c", 1, 4, 1, ratio(400))).change(quiet),
			[]string{"a"}, false},
		"to zero, and the minimum needs it": {snapshot(StaticWeighted, 3, 10, site("a", 1, 3, 1, ratio(400), toSleep),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 1, ratio(400))).change(quiet),
			[]string{"a"}, false},
		"to zero, and a cluster is silent": {snapshot(StaticWeighted, 1, 10, site("a", 1, 3, 1, ratio(400), toSleep),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 1, silent(7))).change(quiet),
			[]string{"a"}, false},
		"to zero, and it is silent itself": {snapshot(StaticWeighted, 1, 10, site("a", 1, 3, 1, silent(400), toSleep),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 1, ratio(400))).change(quiet),
			[]string{"a"}, false},
		"to zero, and it refused": {snapshot(StaticWeighted, 2, 10, site("a", 1, 3, 1, ratio(400), toSleep, balks),
			site("b", 1, 3, 1, ratio(400)), site("c", 1, 4, 1, ratio(400))).change(quiet),
			[]string{"a"}, false},
		"to zero, as it is drained": {snapshot(StaticWeighted, 2, 10, site("a", 0, 0, 1, toSleep, drained), site("b", 2, 10, 2)), nil, false},
		"from zero": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 0, atZero, func(s *Site) { s.Ordered = new(int32(1)) }),
			site("b", 1, 5, 1, ratio(400))).change(quiet),
			nil, false},

		"less than it has, and more than runs": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 4, stands(6)),
			site("b", 1, 6, 2, stands(4))), nil, false},
		"less than runs": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 5, stands(6)),
			site("b", 1, 6, 2, stands(4))), nil, true},
		"less than runs, of which some wait": {snapshot(DynamicWeighted, 1, 10,
			site("a", 1, 4, 5, stands(6), pending(1, 7)), site("b", 1, 6, 2, stands(4))), nil, false},
		"less than runs, and written already": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 5, stands(4)),
			site("b", 1, 6, 2, stands(4))), nil, false},
		"less than runs, as the maximum is less": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 4, 6, stands(6)),
			site("b", 1, 5, 4, stands(4))), nil, false},
		"less than runs, which all fits": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 4, 5, stands(6)),
			site("b", 1, 5, 4, stands(4))), nil, true},
		"less than runs, as its ceiling says": {snapshot(DynamicWeighted, 1, 10,
			site("a", 1, 4, 5, stands(6), ceiling(5)), site("b", 1, 6, 2, stands(4))), nil, false},
		"less than runs, as the weights say": {snapshot(StaticWeighted, 1, 10, site("a", 1, 4, 5, stands(6)),
			site("b", 1, 6, 2, stands(4))), nil, false},
		"less than runs, by weights and demand": {snapshot(StaticWeighted, 1, 10, site("a", 1, 4, 5, stands(6)),
			site("b", 1, 6, 2, stands(4))).change(demand), nil, true},
		"less than runs, in each": {snapshot(Duplicated, 1, 4, site("a", 1, 4, 5, stands(6)),
			site("b", 1, 4, 2, stands(6))), nil, false},
		"less than runs, where it leaves": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 5, stands(6), leaving),
			site("b", 1, 10, 2, stands(4))), nil, false},
		"less than runs, where it is silent": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 5, stands(6), silent(7)),
			site("b", 1, 6, 2, stands(4))), nil, true},
		"less than it has, where it is silent": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 4, stands(6), silent(7)),
			site("b", 1, 6, 2, stands(4))), nil, false},
		"as the maximum is less, of which a silent one holds some": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 4, 5, stands(5)),
			site("b", 1, 3, 5, stands(5), silent(7))), nil, false},
		"as the maximum is less, of which a silent one may hold some": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 4, 5, stands(5)),
			site("b", 1, 5, 5, silent(7))), nil, false},
		"less than it has, where it refuses": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 2, stands(6), refusing),
			site("b", 1, 6, 2, stands(4))), nil, false},
		"less than runs, where it refuses": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 5, stands(6), refusing),
			site("b", 1, 6, 2, stands(4))), nil, true},
		"less than runs, and another does not give up what it has": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 4, 5, stands(6)),
			site("b", 1, 4, 9, stands(9), refusing)), nil, true},
		"more than is left, where it refuses": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 6, 2, stands(4), refusing),
			site("b", 1, 4, 2, stands(4))), nil, true},
		"more than is left by the weights, where it refuses": {snapshot(StaticWeighted, 1, 9, site("a", 1, 6, 2, stands(4), refusing),
			site("b", 1, 4, 2, stands(4))), nil, true},
		"whole, as all have it, where it refuses": {snapshot(Duplicated, 1, 9, site("a", 1, 9, 2, stands(4), refusing),
			site("b", 1, 9, 2, stands(9))), nil, false},
		"as much as it has, and more than is left": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 6, 2, stands(6), refusing),
			site("b", 1, 4, 2, stands(3))), nil, false},
		"where it is silent, of which all is known": {snapshot(DynamicWeighted, 1, 9, site("a", 1, 1, 5, stands(4)),
			site("b", 1, 8, 2, stands(5), silent(7))), nil, true},
		"more than it has, where it refuses": {snapshot(DynamicWeighted, 1, 10, site("a", 1, 6, 2, stands(4), refusing),
			site("b", 1, 4, 2, stands(4))), nil, false},
		"the low priority is drained": {snapshot(Prioritized, 1, 10, site("a", 1, 8, 4, priority(2), ratio(500), stands(5)),
			site("b", 1, 2, 4, priority(1), ratio(500), stands(5))).change(low), nil, false},
		"it is drained, and the load is higher": {snapshot(Prioritized, 1, 10, site("a", 1, 8, 4, priority(2), ratio(850), stands(5)),
			site("b", 1, 2, 4, priority(1), ratio(850), stands(5))).change(low), nil, true},
		"it is drained, and nobody knows": {snapshot(Prioritized, 1, 10, site("a", 1, 8, 4, priority(2), stands(5)),
			site("b", 1, 2, 4, priority(1), ratio(500), stands(5))).change(low), nil, true},
		"it is drained, and the load was higher": {snapshot(Prioritized, 1, 10, site("a", 1, 8, 4, priority(2), ratio(500), stands(5)),
			site("b", 1, 2, 4, priority(1), ratio(500), stands(5))), nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Lapsed(tc.s)
			fleettest.Same(t, "orders", tc.orders, slices.Sorted(maps.Keys(got.Orders)))
			if got.Bounds != tc.bounds {
				t.Errorf("bounds lapse: %t", got.Bounds)
			}
		})
	}
}

// What a cluster refuses does not change whose turn it is to shrink, and what is silent does not keep the others from running
// the fleet's minimum.
func TestStepsBesideOneThatDoesNotTakePart(t *testing.T) {
	c1, c2 := site("c1", 1, 9, 9, priority(3), ratio(567)), site("c2", 1, 4, 4, priority(2), ratio(567))
	full, free := site("a", 1, 5, 2, pending(1, 90)), site("b", 1, 5, 2)
	tests := map[string]struct {
		s    Snapshot
		want string
	}{
		"it is the turn of one that refuses": {snapshot(Prioritized, 3, 17, c1, c2,
			site("c3", 1, 4, 4, priority(1), ratio(567), refusing)).change(low),
			"- c1 1/9 hold, c2 1/4 hold, c3 1/4"},
		"it has shrunk": {snapshot(Prioritized, 3, 17, c1, c2, site("c3", 1, 4, 1, priority(1), ratio(567), refusing)).change(low),
			"LowPriorityDrained: c1 1/12 hold, c2 1/1, c3 1/4"},
		"too few run, and minima do not move for now": {snapshot(Aggregated, 3, 26, site("a", 1, 19, 1, ratio(500)),
			site("b", 1, 1, 1, ratio(500)),
			site("c", 2, 6, 0, atZero), site("d", 0, 0, 0, silent(15))).change(toZero),
			"ScaledFromZero: a 1/19, b 1/1, c 2/6 run 2, d 0/0 Unreachable"},
		"a full one gives what it cannot run": {snapshot(Aggregated, 2, 12, full, free, site("c", 1, 2, 2, refusing)),
			"MaximumSpilled: a 1/1 Saturated, b 1/9, c 1/2"},
		"what was given and not got is taken back when there is too much": {snapshot(Aggregated, 2, 12, site("a", 1, 6, 4, stands(4)),
			site("b", 1, 4, 4, stands(4)), site("c", 1, 4, 2, stands(9), refusing)),
			"- a 1/4, b 1/4, c 1/4"},
		"but not while one keeps more than its part": {snapshot(Aggregated, 2, 12, site("a", 1, 4, 4, pending(1, 90), stands(4)),
			site("b", 1, 4, 4, stands(4)), site("c", 1, 9, 2, refusing)),
			"- a 1/4, b 1/4, c 1/9"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, told(Next(tc.s)))
		})
	}
}

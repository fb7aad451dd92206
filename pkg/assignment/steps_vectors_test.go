// SPDX-License-Identifier: Apache-2.0

package assignment

import "testing"

// The worked examples of the proposals that take a whole fleet to tell.
func TestNextWorkedExamples(t *testing.T) {
	follow := func(s *Snapshot) { s.Rebalance.Strategy = "Capacity" }
	tests := map[string]struct {
		Snapshot
		want string
	}{
		"duplicated: four clusters have both bounds whole, whatever they run, and a fifth is no more of them": {
			snapshot(Duplicated, 3, 10, site("m1", 0, 0, 1, fresh), site("m2", 0, 0, 4, fresh), site("m3", 0, 0, 20, fresh),
				site("m4", 3, 10, 5, leaving), site("m5", 0, 0, 0, fresh)).change(changed),
			"BoundsSplit: m1 3/10, m2 3/10, m3 3/10, m4 0/0 Excluded, m5 3/10 run 3"},
		"and then they stay": {
			snapshot(Duplicated, 3, 10, site("m1", 3, 10, 3), site("m2", 3, 10, 4), site("m3", 3, 10, 10), site("m5", 3, 10, 3)),
			"- m1 3/10, m2 3/10, m3 3/10, m5 3/10"},
		"what is spare follows capacity in proportion": {
			snapshot(DynamicWeighted, 3, 22, site("m1", 1, 7, 6, hosts(2)), site("m2", 1, 8, 6, hosts(1)), site("m3", 1, 7, 6, hosts(1))),
			"MaximumMovedToCapacity: m1 1/8, m2 1/7, m3 1/7"},
		"and of equals to the first, whichever can host more in all": {
			snapshot(DynamicWeighted, 3, 16, site("m1", 1, 3, 3, hosts(1)), site("m2", 1, 6, 6, hosts(1)), site("m3", 1, 7, 6, hosts(0))),
			"MaximumMovedToCapacity: m1 1/4, m2 1/6, m3 1/6"},
		"with static weights too, if it is asked for": {
			snapshot(StaticWeighted, 3, 22, site("m1", 1, 7, 6, weight(2), hosts(2)), site("m2", 1, 8, 6, hosts(1)),
				site("m3", 1, 7, 6, hosts(1))).change(follow),
			"MaximumMovedToCapacity: m1 1/8, m2 1/7, m3 1/7"},
		"but not unless it is": {
			snapshot(StaticWeighted, 3, 22, site("m1", 1, 7, 6, weight(2), hosts(2)), site("m2", 1, 8, 6, hosts(1)), site("m3", 1, 7, 6, hosts(1))),
			"- m1 1/7, m2 1/8, m3 1/7"},
		"and once it is so, it stays so": {
			snapshot(DynamicWeighted, 3, 22, site("m1", 1, 8, 6, hosts(2)), site("m2", 1, 7, 6, hosts(1)), site("m3", 1, 7, 6, hosts(1))),
			"- m1 1/8, m2 1/7, m3 1/7"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := told(Next(tc.Snapshot)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"slices"
)

// lower takes n replicas away: down to the floors, and further only if that is not enough.
func (d *distributor) lower(n int64, x, targets []int64) {
	floors := d.each(func(m Cluster) int64 { return int64(m.Floor) })
	none := make([]int64, len(x))
	for _, bounds := range [][]int64{floors, none} {
		for _, group := range d.departures(x) {
			n = descend(n, group, x, targets, bounds)
		}
	}
}

// departures are the clusters in the order in which they lose replicas: the groups one after another, and within a group
// by the distance from the target, its first cluster first among equals. Each is the place of a cluster in the roster.
func (d *distributor) departures(x []int64) [][]int {
	last := make([]int, len(x)) // the last to be filled is the first to be emptied
	for i := range last {
		last[i] = len(last) - 1 - i
	}
	if !d.policy.fills() {
		return [][]int{last}
	}
	before := func(a, b int) int { return cmp.Compare(x[a], x[b]) }
	if d.policy == Prioritized {
		before = func(a, b int) int { return cmp.Compare(d.members[a].Priority, d.members[b].Priority) }
	}
	slices.SortStableFunc(last, before)
	var groups [][]int
	for k, i := range last {
		if k > 0 && d.policy == Prioritized && before(last[k-1], i) == 0 {
			groups[len(groups)-1] = append(groups[len(groups)-1], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// descend takes up to n from x within the group, each step where x is farthest above its target and above its bound.
func descend(n int64, group []int, x, targets, bounds []int64) (left int64) {
	gaps, rooms := make([]int64, len(group)), make([]int64, len(group))
	for k, i := range group {
		gaps[k], rooms[k] = x[i]-targets[i], x[i]-bounds[i]
	}
	gives, left := level(n, gaps, rooms)
	for k, i := range group {
		x[i] -= gives[k]
	}
	return left
}

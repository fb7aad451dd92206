// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"cmp"
	"slices"
)

// Divide returns which of the replicas that are alive should hold each shard, by who holds it; "" is nobody. Each gets as many as the
// others, or one more. Whoever holds a shard keeps it, unless it is dead or holds more than its part: no division that is as even moves
// fewer shards. If nobody is alive, nobody should hold any.
func Divide(holders, alive []string) []string {
	alive = slices.Compact(slices.Sorted(slices.Values(alive)))
	part := parts(holders, alive)
	should := make([]string, len(holders))
	for shard, holder := range holders {
		if part[holder] > 0 {
			part[holder]--
			should[shard] = holder
		}
	}
	for shard := range should {
		if should[shard] == "" && len(alive) > 0 {
			// the one that lacks most, so that replicas that begin get their shards side by side
			next := slices.MaxFunc(alive, func(a, b string) int { return cmp.Or(cmp.Compare(part[a], part[b]), cmp.Compare(b, a)) })
			part[next]--
			should[shard] = next
		}
	}
	return should
}

// parts is how many shards each of the sorted replicas should hold. Where they cannot be even, those that hold the most have one more.
func parts(holders, alive []string) map[string]int {
	holds := map[string]int{}
	for _, holder := range holders {
		holds[holder]++
	}
	most := slices.Clone(alive)
	slices.SortStableFunc(most, func(a, b string) int { return cmp.Compare(holds[b], holds[a]) })
	part := map[string]int{}
	for i, replica := range most {
		part[replica] = len(holders) / len(most)
		if i < len(holders)%len(most) {
			part[replica]++
		}
	}
	return part
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import "slices"

// pour adds the total to x by the policy, each up to its limit; left is what found no room.
//
// By weight, what the limits keep from the weighted clusters is divided equally over the room that is left, clusters of
// weight 0 included. Filling, clusters are first filled up to their capacity; what is left goes to the first of them all
// the same, as far as its limit allows.
func (r *roster) pour(total int64, x, limits []int64) (left int64) {
	if !r.policy.fills() {
		left = r.pourBy(ByWeight, total, x, limits, r.weights)
		return r.pourBy(Equally, left, x, limits, r.each(func(Cluster) int64 { return 1 }))
	}
	hosted := r.each(Cluster.capacity)
	for i := range hosted {
		hosted[i] = min(hosted[i], limits[i])
	}
	return r.fill(ToFirst, r.fill(Hosted, total, x, hosted), x, limits)
}

func (r *roster) pourBy(source Source, total int64, x, limits, weights []int64) (left int64) {
	claims, rounds := r.claims(weights, minus(limits, x)), make([]round, len(x))
	shares, left := shareNoting(total, claims, func(i int, of, weights int64) { rounds[i] = round{of, weights} })
	for i := range x {
		x[i] += shares[i]
		r.note(i, claims[i].term(source, shares[i], rounds[i]))
	}
	return left
}

// claims are those of the clusters, by their weights and within their rooms.
func (r *roster) claims(weights, rooms []int64) []claim {
	claims := make([]claim, len(r.members))
	for i := range claims {
		claims[i] = claim{weight: weights[i], room: rooms[i], rank: r.ranks[i]}
	}
	return claims
}

// divide divides the total again: the floors first, as far as it reaches, and the rest on top by the policy.
func (r *roster) divide(total int64, limits []int64) (x []int64, left int64) {
	return r.divideAbove(make([]int64, len(limits)), total, limits)
}

// divideAbove is divide where each already has a part, within its limit, that it keeps.
func (r *roster) divideAbove(parts []int64, total int64, limits []int64) (x []int64, left int64) {
	x = slices.Clone(parts)
	floors := r.each(func(m Cluster) int64 { return int64(m.Floor) })
	for i := range floors {
		floors[i] = min(floors[i], limits[i])
	}
	r.from(Running, parts)
	return x, r.pour(r.fill(Threshold, total-sum(parts), x, floors), x, limits)
}

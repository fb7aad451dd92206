// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"math/bits"
	"slices"
)

// claim is one cluster's part in share.
type claim struct {
	weight int64 // no unit; the sum over all claims fits an int64
	room   int64 // never exceeded
	rank   int   // unique; the lower comes first among equal weights
}

// share divides the total in proportion to weights. Each claim gets its quota rounded down; what rounding leaves goes, one
// each, to the heaviest of those that were rounded. A claim whose part exceeds its room gets its room, and the others
// divide the rest again. The result is in the order of the claims; left is what found no room or no weight.
func share(total int64, claims []claim) (x []int64, left int64) {
	return shareNoting(total, claims, func(int, int64, int64) {})
}

// shareNoting is share, and notes in which round each claim was settled that gets something: what was divided then, and by which sum of
// weights.
func shareNoting(total int64, claims []claim, note func(i int, of, weights int64)) (x []int64, left int64) {
	x = make([]int64, len(claims))
	open := make([]int, 0, len(claims)) // of those still to be given, the heaviest first
	for i, c := range claims {
		if c.weight > 0 && c.room > 0 {
			open = append(open, i)
		}
	}
	slices.SortFunc(open, func(a, b int) int {
		return cmp.Or(cmp.Compare(claims[b].weight, claims[a].weight), cmp.Compare(claims[a].rank, claims[b].rank))
	})
	for total > 0 && len(open) > 0 {
		quotas, weights := quotas(total, claims, open)
		rest, of := open[:0:0], total
		for k, i := range open {
			if quotas[k] > claims[i].room {
				note(i, of, weights)
				x[i] = claims[i].room
				total -= x[i]
			} else {
				rest = append(rest, i)
			}
		}
		if len(rest) < len(open) {
			open = rest
			continue
		}
		for k, i := range open {
			note(i, of, weights)
			x[i] = quotas[k]
		}
		return x, 0
	}
	return x, total
}

// quotas divides the total among the open claims, whatever their room. The sum of the fractions that rounding cuts off is
// a whole number below their count, so the remainder is used up. The weights are those of all together.
func quotas(total int64, claims []claim, open []int) (_ []int64, weights int64) {
	remainder := total
	for _, i := range open {
		weights += claims[i].weight
	}
	quotas, rounded := make([]int64, len(open)), make([]bool, len(open))
	for k, i := range open {
		high, low := bits.Mul64(uint64(total), uint64(claims[i].weight))
		quota, fraction := bits.Div64(high, low, uint64(weights))
		quotas[k], rounded[k] = int64(quota), fraction != 0
		remainder -= quotas[k]
	}
	for k := range quotas {
		if rounded[k] && remainder > 0 {
			quotas[k]++
			remainder--
		}
	}
	return quotas, weights
}

// fill adds the total to x, the first number first, each up to its limit; left is what found no room.
func fill(total int64, x, limits []int64) (left int64) {
	for i := range x {
		give := min(total, max(0, limits[i]-x[i]))
		x[i] += give
		total -= give
	}
	return total
}

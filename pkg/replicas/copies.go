// SPDX-License-Identifier: Apache-2.0

package replicas

import "math"

// told returns how many replicas all clusters together were told to run. Proposals of metrics are of as many clusters; spec, status,
// state and decision are of each one that runs the workload whole.
func (q *Question) told() int32 { return Whole(q.Scale.Replicas, q.Copies) }

// Whole returns how many replicas clusters run together of which each runs so many; one at most: they divide these.
func Whole(each int32, copies int) int32 {
	if copies <= 1 {
		return each
	}
	return int32(min(int64(each)*int64(copies), math.MaxInt32))
}

// Each returns how many replicas each of the clusters must run, so that together they run no fewer than these. So what they run
// calls for itself: Each(Whole(n, copies), copies) is n, and so it is for any less, down to the next multiple.
func Each(fleet int32, copies int) int32 {
	if copies <= 1 {
		return fleet
	}
	return int32((int64(fleet) + int64(copies) - 1) / int64(copies))
}

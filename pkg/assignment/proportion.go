// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"slices"
)

// InProportion divides the total among the clusters in proportion to what each runs, by largest remainders; among equals the
// first by name. Where none runs a replica, all get the same. What held clusters run counts, and stays. Of the clusters only Name,
// Current and Held are read, and there are no targets.
//
// So a total that does not change moves nothing, a larger one shrinks no cluster, and a smaller one grows none.
func InProportion(total int32, clusters []Cluster) Distribution {
	d := Distribution{Replicas: make(map[string]int32, len(clusters))}
	left, running := int64(total), int64(0)
	var open []remainder
	for _, c := range clusters {
		current := int64(max(0, c.Current))
		if c.Held {
			d.Replicas[c.Name] = int32(current)
			left -= current
			continue
		}
		open = append(open, remainder{name: c.Name, weight: current})
		running += current
	}
	left = max(0, left)
	if len(open) == 0 {
		d.Unplaced = int32(left)
		return d
	}
	if running == 0 {
		for i := range open {
			open[i].weight = 1
		}
		running = int64(len(open))
	}
	rest := left
	for i := range open {
		product := left * open[i].weight // both are replicas, so it fits
		open[i].quota, open[i].fraction = product/running, product%running
		rest -= open[i].quota
	}
	slices.SortFunc(open, func(a, b remainder) int {
		return cmp.Or(cmp.Compare(b.fraction, a.fraction), cmp.Compare(a.name, b.name))
	})
	for i, r := range open {
		if int64(i) < rest {
			r.quota++
		}
		d.Replicas[r.name] = int32(r.quota)
	}
	return d
}

// remainder is a cluster's part, rounded down, and what rounding cut off.
type remainder struct {
	name                    string
	weight, quota, fraction int64
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"slices"
	"strings"
)

// InProportion divides the total among the clusters in proportion to what each runs, by largest remainders; among equals the
// first by name. Where none runs a replica, all get the same. What held clusters run counts, and stays. A cluster with a Cap gets no more
// than its maximum, but one that runs more keeps what nobody else may take. Of the clusters only Name, Current, Cap and Held are read,
// and there are no targets.
//
// So without caps a total that does not change moves nothing, a larger one shrinks no cluster, and a smaller one grows none.
func InProportion(total int32, clusters []Cluster) Distribution {
	d := Distribution{Replicas: make(map[string]int32, len(clusters))}
	left := int64(total)
	var open, full []Cluster
	for _, c := range clusters {
		if c.Current = max(0, c.Current); !c.Held {
			open = append(open, c)
			continue
		}
		d.Replicas[c.Name] = c.Current
		left -= int64(c.Current)
	}
	left = max(0, left)
	for { // what is cut off at a maximum is divided among the others
		d.divide(left, open)
		i := 0
		for _, c := range open {
			if c.Cap != nil && d.Replicas[c.Name] > c.Cap.Max {
				d.Replicas[c.Name] = c.Cap.Max
				left -= int64(c.Cap.Max)
				full = append(full, c)
				continue
			}
			open[i] = c
			i++
		}
		if i == len(open) {
			break
		}
		open = open[:i]
	}
	if len(open) == 0 {
		d.Unplaced = int32(d.keep(left, full))
	}
	return d
}

// divide sets the replicas of each, which are the total together.
func (d *Distribution) divide(total int64, open []Cluster) {
	running := int64(0)
	for _, c := range open {
		running += int64(c.Current)
	}
	weight := func(c *Cluster) int64 { return int64(c.Current) }
	if running == 0 {
		running, weight = int64(len(open)), func(*Cluster) int64 { return 1 }
	}
	rest := total
	for i := range open {
		part := total * weight(&open[i]) / running // both are replicas, so it fits
		d.Replicas[open[i].Name] = int32(part)
		rest -= part
	}
	slices.SortFunc(open, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(total*weight(&b)%running, total*weight(&a)%running), strings.Compare(a.Name, b.Name))
	})
	for i := range open[:min(int(rest), len(open))] {
		d.Replicas[open[i].Name]++
	}
}

// keep leaves clusters that run more than they should what nobody else may take, the first by name first, and returns what is left.
func (d *Distribution) keep(left int64, full []Cluster) int64 {
	slices.SortFunc(full, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range full {
		kept := min(left, int64(max(0, c.Current-d.Replicas[c.Name])))
		d.Replicas[c.Name] += int32(kept)
		left -= kept
	}
	return left
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"math"
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
	var open, full []quota
	for _, c := range clusters {
		s := quota{name: c.Name, current: int64(max(0, c.Current)), most: math.MaxInt64}
		if c.Cap != nil {
			s.most = int64(c.Cap.Max)
		}
		if c.Held {
			d.Replicas[c.Name] = int32(s.current)
			left -= s.current
			continue
		}
		open = append(open, s)
	}
	left = max(0, left)
	for { // what is cut off at a maximum is divided among the others
		divide(left, open)
		i := 0
		for _, s := range open {
			if s.replicas > s.most {
				s.replicas = s.most
				left -= s.replicas
				full = append(full, s)
				continue
			}
			open[i] = s
			i++
		}
		if i == len(open) {
			break
		}
		open = open[:i]
	}
	if len(open) == 0 {
		left = keep(left, full)
		d.Unplaced = int32(left)
	}
	for _, s := range append(open, full...) {
		d.Replicas[s.name] = int32(s.replicas)
	}
	return d
}

// quota is a cluster's part of the replicas.
type quota struct {
	name          string
	current, most int64
	replicas      int64
}

// divide sets the replicas of each, which are the total together.
func divide(total int64, open []quota) {
	running := int64(0)
	for _, s := range open {
		running += s.current
	}
	weight := func(s *quota) int64 { return s.current }
	if running == 0 {
		running, weight = int64(len(open)), func(*quota) int64 { return 1 }
	}
	rest := total
	for i := range open {
		open[i].replicas = total * weight(&open[i]) / running // both are replicas, so it fits
		rest -= open[i].replicas
	}
	slices.SortFunc(open, func(a, b quota) int {
		return cmp.Or(cmp.Compare(total*weight(&b)%running, total*weight(&a)%running), strings.Compare(a.name, b.name))
	})
	for i := range open[:min(int(rest), len(open))] {
		open[i].replicas++
	}
}

// keep leaves clusters that run more than they should what nobody else may take, the first by name first, and returns what is left.
func keep(left int64, full []quota) int64 {
	slices.SortFunc(full, func(a, b quota) int { return strings.Compare(a.name, b.name) })
	for i := range full {
		kept := min(left, max(0, full[i].current-full[i].replicas))
		full[i].replicas += kept
		left -= kept
	}
	return left
}

// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"strings"
	"time"
)

// Sums are what one side of a run comes to.
type Sums struct {
	PodHours float64 `json:"podHours"`
	// Above is for how long the use was above the bound, AtMax for how long no more replicas were allowed, and Held for how long
	// nothing was scaled in as clusters could not be seen.
	Above time.Duration `json:"-"`
	AtMax time.Duration `json:"-"`
	Held  time.Duration `json:"-"`
	// Ups and Downs are how often the replicas changed.
	Ups   int `json:"ups"`
	Downs int `json:"downs"`
	// Least and Most are the replicas, and LeastAsked and MostAsked those that the metrics asked for; 0: they never did.
	Least      int32 `json:"least"`
	Most       int32 `json:"most"`
	LeastAsked int32 `json:"leastAsked"`
	MostAsked  int32 `json:"mostAsked"`
	// Sizes are of decisions on sizes.
	Sizes SizeSums `json:"sizes,omitzero"`
}

// SizeSums are what one side of decisions on sizes comes to.
type SizeSums struct {
	CoreHours float64 `json:"coreHours"`
	GiBHours  float64 `json:"gibHours"`
	// AboveCPU and AboveMemory are for how long a container used more than it would have requested.
	AboveCPU    time.Duration `json:"-"`
	AboveMemory time.Duration `json:"-"`
	// Uncovered and Changes are as in [SizeSide].
	Uncovered int `json:"uncovered"`
	Changes   int `json:"changes"`
}

func (s *SizeSums) add(of *SizeSide, lasts time.Duration) {
	s.CoreHours += of.Cores * lasts.Hours()
	s.GiBHours += of.GiB * lasts.Hours()
	if of.AboveCPU {
		s.AboveCPU += lasts
	}
	if of.AboveMemory {
		s.AboveMemory += lasts
	}
	s.Uncovered += of.Uncovered
	s.Changes += of.Changes
}

// Summary is what a run comes to.
type Summary struct {
	Was, Would Sums
	// Lasts is for how long decisions were recorded, and Unknown for how long the load is not known, and why: of that time, but for
	// [NotRecorded], which is beside it.
	Lasts   time.Duration
	Unknown map[Unknown]time.Duration
	// Clusters are those of the decisions, in name order; decisions on sizes have none.
	Clusters []ClusterSums
	// InFact is what Pods requested in fact, where sizes were decided on, and Kills how many containers were killed for want of memory.
	InFact SizeSums
	Kills  int
}

// ClusterSums are what a run comes to in one cluster.
type ClusterSums struct {
	Name       string
	Was, Would ClusterSum
}

// ClusterSum is one side of them.
type ClusterSum struct {
	PodHours float64
	// Changes are how often the replicas changed.
	Changes int
	// Min and Max are the bounds, in the mean over the time of the run; a cluster that takes no part has none, which counts as 0.
	Min, Max float64
	// BoundChanges are how often they changed.
	BoundChanges int
	// Above is for how long the use was above the bound, AtMax for how long the cluster's autoscaler allowed no more, and Unknown for how
	// long the load is not known.
	Above, AtMax time.Duration
	Unknown      time.Duration
}

func (s *ClusterSum) add(of *ClusterSide, lasts time.Duration, above int64) {
	s.PodHours += of.Replicas * lasts.Hours()
	s.Min += float64(of.Min) * weight(lasts)
	s.Max += float64(of.Max) * weight(lasts)
	if of.Use != nil && *of.Use > above {
		s.Above += lasts
	}
	if of.AtMax() {
		s.AtMax += lasts
	}
	if of.Unknown != "" {
		s.Unknown += lasts
	}
}

// weight is what a decision counts in a mean. The last one lasts no time, and counts a little: so there is a mean of one decision, too.
func weight(lasts time.Duration) float64 { return max(lasts, time.Nanosecond).Hours() }

func (s *ClusterSum) change(from, to *ClusterSide) {
	if from.Replicas != to.Replicas {
		s.Changes++
	}
	if from.Min != to.Min || from.Max != to.Max {
		s.BoundChanges++
	}
}

// addClusters adds the clusters of a point up; before is the one before, nil: there is none.
func (s *Summary) addClusters(p, before *Point, above int64) {
	for i := range p.Clusters {
		c := &p.Clusters[i]
		of := s.cluster(c.Name)
		of.Was.add(&c.Was, p.Lasts, above)
		of.Would.add(&c.Would, p.Lasts, above)
		if before == nil {
			continue
		}
		if k, found := slices.BinarySearchFunc(before.Clusters, c.Name, byName); found {
			of.Was.change(&before.Clusters[k].Was, &c.Was)
			of.Would.change(&before.Clusters[k].Would, &c.Would)
		}
	}
}

// mean makes means of the bounds.
func (s *Summary) mean(whole float64) {
	for i := range s.Clusters {
		for _, side := range []*ClusterSum{&s.Clusters[i].Was, &s.Clusters[i].Would} {
			side.Min, side.Max = side.Min/whole, side.Max/whole
		}
	}
}

// cluster returns the sums of the cluster of that name.
func (s *Summary) cluster(name string) *ClusterSums {
	i, found := slices.BinarySearchFunc(s.Clusters, name, func(c ClusterSums, name string) int { return strings.Compare(c.Name, name) })
	if !found {
		s.Clusters = slices.Insert(s.Clusters, i, ClusterSums{Name: name})
	}
	return &s.Clusters[i]
}

// Summarize adds a run up; above is the bound of the use, in percent.
func (r *Result) Summarize(above int64) Summary {
	s, whole := Summary{Unknown: map[Unknown]time.Duration{}}, 0.0
	for i := range r.Points {
		p := &r.Points[i]
		var before *Point
		if i > 0 {
			before = &r.Points[i-1]
		}
		s.Lasts += p.Lasts
		if p.Unknown != "" {
			s.Unknown[p.Unknown] += p.Lasts
		}
		if i+1 < len(r.Points) {
			if pause := r.Points[i+1].At.Sub(p.At) - p.Lasts; pause > 0 {
				s.Unknown[NotRecorded] += pause
			}
		}
		s.Was.add(&p.Was, p.Lasts, above)
		s.Would.add(&p.Would, p.Lasts, above)
		s.addClusters(p, before, above)
		s.addInFact(p)
		whole += weight(p.Lasts)
		if before != nil {
			s.Was.change(before.Was.Replicas, p.Was.Replicas)
			s.Would.change(before.Would.Replicas, p.Would.Replicas)
		} else {
			s.Was.Least, s.Would.Least = p.Was.Replicas, p.Would.Replicas
		}
		s.Was.Least, s.Would.Least = min(s.Was.Least, p.Was.Replicas), min(s.Would.Least, p.Would.Replicas)
	}
	s.mean(whole)
	return s
}

func (s *Summary) addInFact(p *Point) {
	if f := p.InFact; f != nil {
		s.InFact.add(&SizeSide{Cores: f.Cores, GiB: f.GiB}, p.Lasts)
		s.Kills += f.Kills
	}
}

func (s *Sums) add(p *Side, lasts time.Duration, above int64) {
	if p.Sizes != nil {
		s.Sizes.add(p.Sizes, lasts)
	}
	s.PodHours += float64(p.Replicas) * lasts.Hours()
	if p.Use != nil && *p.Use > above {
		s.Above += lasts
	}
	if p.AtMax {
		s.AtMax += lasts
	}
	if p.Held {
		s.Held += lasts
	}
	s.Most = max(s.Most, p.Replicas)
	if p.Asked == 0 {
		return
	}
	s.MostAsked = max(s.MostAsked, p.Asked)
	if s.LeastAsked == 0 || p.Asked < s.LeastAsked {
		s.LeastAsked = p.Asked
	}
}

func (s *Sums) change(from, to int32) {
	switch {
	case to > from:
		s.Ups++
	case to < from:
		s.Downs++
	}
}

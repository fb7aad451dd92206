// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"time"
)

// Thin returns no more than n points for a picture, or all if they are fewer: each is of a part of the time, and has the most of it.
func Thin(points []Point, n int) []Point {
	if len(points) <= n || n < 1 {
		return points
	}
	from, whole := points[0].At, points[len(points)-1].At.Sub(points[0].At)
	var thin []Point
	last := -1
	for i := range points {
		p := &points[i]
		part := min(n-1, int(float64(n)*float64(p.At.Sub(from))/float64(max(1, whole))))
		if part == last {
			thin[len(thin)-1].add(p)
			continue
		}
		thin, last = append(thin, *p), part
		thin[len(thin)-1].Clusters = slices.Clone(p.Clusters) // the others of its part are added to them
	}
	return thin
}

func (p *Point) add(other *Point) {
	p.Was.most(&other.Was)
	p.Would.most(&other.Would)
	p.Lasts += other.Lasts
	if p.InFact != nil && other.InFact != nil {
		p.InFact = &InFact{max(p.InFact.Cores, other.InFact.Cores), max(p.InFact.GiB, other.InFact.GiB), p.InFact.Kills + other.InFact.Kills}
	}
	p.Unknown = worse(p.Unknown, other.Unknown)
	p.Clusters = mostOfBoth(p.Clusters, other.Clusters)
}

// mostOfBoth adds clusters to others; both are in name order.
func mostOfBoth(all, b []ClusterPoint) []ClusterPoint {
	for i := range b {
		at, known := slices.BinarySearchFunc(all, b[i].Name, byName)
		if !known {
			all = slices.Insert(all, at, b[i])
			continue
		}
		all[at].Was.most(&b[i].Was)
		all[at].Would.most(&b[i].Would)
	}
	return all
}

func (s *ClusterSide) most(other *ClusterSide) {
	s.Replicas, s.Min, s.Max = max(s.Replicas, other.Replicas), max(s.Min, other.Min), max(s.Max, other.Max)
	s.Use, s.Unknown = higher(s.Use, other.Use), worse(s.Unknown, other.Unknown)
}

func (s *Side) most(other *Side) {
	s.Replicas, s.Asked, s.Max = max(s.Replicas, other.Replicas), max(s.Asked, other.Asked), max(s.Max, other.Max)
	s.AtMax, s.Held = s.AtMax || other.AtMax, s.Held || other.Held
	if s.Sizes != nil && other.Sizes != nil {
		s.Sizes = s.Sizes.most(other.Sizes)
	}
	s.Use = higher(s.Use, other.Use)
}

// most has the most of both, and what happened in either.
func (s *SizeSide) most(o *SizeSide) *SizeSide {
	return &SizeSide{
		Cores: max(s.Cores, o.Cores), GiB: max(s.GiB, o.GiB), AboveCPU: s.AboveCPU || o.AboveCPU, AboveMemory: s.AboveMemory || o.AboveMemory,
		Uncovered: s.Uncovered + o.Uncovered, Changes: s.Changes + o.Changes,
	}
}

// Span is a part of the time in which the load is not known.
type Span struct {
	From, To time.Time
	Unknown  Unknown
}

// Spans are those of points, the earliest first. A thin point is not known if a part of it is not.
func Spans(points []Point) (all []Span) {
	add := func(s Span) {
		if n := len(all); n > 0 && all[n-1].Unknown == s.Unknown && !all[n-1].To.Before(s.From) {
			all[n-1].To = s.To
			return
		}
		all = append(all, s)
	}
	for i := range points {
		p := &points[i]
		end := p.At.Add(p.Lasts)
		if p.Unknown != "" {
			add(Span{p.At, end, p.Unknown})
		}
		if i+1 < len(points) && points[i+1].At.After(end) {
			add(Span{end, points[i+1].At, NotRecorded})
		}
	}
	return all
}

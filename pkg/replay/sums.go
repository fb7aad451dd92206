// SPDX-License-Identifier: Apache-2.0

package replay

import "time"

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
}

// Summary is what a run comes to.
type Summary struct {
	Was, Would Sums
	// Lasts is for how long decisions were recorded, and Unknown for how long the load is not known, and why: of that time, but for
	// [NotRecorded], which is beside it.
	Lasts   time.Duration
	Unknown map[Unknown]time.Duration
}

// Summarize adds a run up; above is the bound of the use, in percent.
func (r *Result) Summarize(above int64) Summary {
	s := Summary{Unknown: map[Unknown]time.Duration{}}
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
		if before != nil {
			s.Was.change(before.Was.Replicas, p.Was.Replicas)
			s.Would.change(before.Would.Replicas, p.Would.Replicas)
		} else {
			s.Was.Least, s.Would.Least = p.Was.Replicas, p.Would.Replicas
		}
		s.Was.Least, s.Would.Least = min(s.Was.Least, p.Was.Replicas), min(s.Would.Least, p.Would.Replicas)
	}
	return s
}

func (s *Sums) add(p *Side, lasts time.Duration, above int64) {
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

// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// place is a cluster as it would be: what it runs, and what the last step said of it.
type place struct {
	current int32
	moves   bool       // that has just changed
	scaled  *time.Time // when it changed last
	assignment.SiteStep
}

// placeOf is a cluster as it is when the sides part.
func placeOf(s *assignment.Site) *place {
	return &place{current: s.Current, scaled: s.LastScale, SiteStep: assignment.SiteStep{
		Min: s.Min, Max: s.Max, State: s.State, Since: s.Since, SchedulableSince: s.SchedulableSince, SaturatedFirst: s.SaturatedFirst,
	}}
}

func (p *place) told(step assignment.SiteStep) { p.SiteStep = step }

// run has the cluster run what its load takes, as far as its bounds let it. Where there is no autoscaler nobody scales, but for who
// does on both sides; one that runs nothing waits for an order.
func (p *place) run(was *assignment.Site, s *assignment.Snapshot) {
	before := p.current
	switch {
	case p.Scale != nil:
		p.current = *p.Scale
	case p.Max == 0 && was.Max == 0:
		p.current = was.Current
	case p.Max > 0 && p.current > 0:
		p.current = max(p.Min, min(p.Max, needed(was, s.Tolerance)))
	}
	if p.moves = p.current != before; p.moves {
		p.scaled = new(s.Now)
	}
}

// shift has the site be the place, under the same load.
func (p *place) shift(was, site *assignment.Site) {
	more := p.current - was.Current
	site.Min, site.Max, site.Stands = p.Min, p.Max, p.Max
	site.State, site.Since, site.SchedulableSince, site.SaturatedFirst = p.State, p.Since, p.SchedulableSince, p.SaturatedFirst
	site.Current, site.Ordered = p.current, nil
	site.Asleep = was.Asleep && p.current == 0
	site.Ready = max(0, min(p.current, was.Ready+more))
	if site.Unschedulable = min(was.Unschedulable, p.current); site.Unschedulable == 0 {
		site.UnschedulableSince = nil
	}
	if was.Additional != nil {
		site.Additional = new(max(0, *was.Additional-more))
	}
	if more == 0 && p.Min == was.Min && p.Max == was.Max {
		return // so its autoscaler says what it said
	}
	if p.Max == 0 {
		site.Autoscaler = assignment.Autoscaler{}
		return
	}
	wants := needed(was, 0)
	site.Autoscaler = assignment.Autoscaler{
		Desired: p.current, ScalingActive: was.ScalingActive || was.Max == 0 && p.current > 0, TooManyReplicas: wants > p.Max,
		Steady: !p.moves, LastScale: p.scaled, Ratios: was.Ratios,
	}
	if was.Current > 0 && p.current > 0 {
		site.Ratios = slices.Clone(was.Ratios)
		for i := range site.Ratios {
			site.Ratios[i] = ceil(min(site.Ratios[i], math.MaxInt32)*int64(was.Current), int64(p.current))
		}
	}
}

// needed is how many replicas the load of a cluster takes there. Between its bounds that is what its autoscaler runs; at its bounds it is
// what the metrics say, which are in thousandths of the target, rounded up.
func needed(s *assignment.Site, tolerance int64) int32 {
	if s.Current == 0 || s.Max == 0 || len(s.Ratios) == 0 {
		return s.Current
	}
	ratio := min(slices.Max(s.Ratios), math.MaxInt32)
	takes := within32(max(1, ceil(int64(s.Current)*ratio-int64(s.Current)+1, 1000)))
	switch {
	case s.Current >= s.Max && s.TooManyReplicas:
		return max(s.Current, takes)
	case s.Current <= s.Min && ratio < 1000-tolerance:
		return min(s.Current, takes)
	}
	return s.Current
}

func ceil(a, by int64) int64 { return (a + by - 1) / by }

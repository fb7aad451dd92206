// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Under is the cluster as it takes part in a division of replicas: cordoned it gets no more, and drained it gives what others can take.
func (c Cluster) Under(standing taints.Standing) Cluster {
	if standing != taints.Free {
		c.Ceiling = min(c.Ceiling, c.Current)
		c.Floor = min(c.Floor, c.Ceiling)
		c.Cap = &Bounds{Max: c.Current}
	}
	if standing == taints.Drained {
		c.Limit, c.Floor, c.Moved, c.Cap = new(int32), 0, 0, &Bounds{}
	}
	return c
}

// capOf are the bounds that a site may have at most, by how it takes part; nil: it is free.
//
// A cordoned site keeps the bounds that it has. One without bounds that runs already, as the workload was there before, may keep
// what it runs; so no site begins. A drained one keeps what it runs, without a part of the minimum, until the others run the
// fleet's, and then it gets nothing; or as little as there can be, where it does not take an order to run nothing. What runs nothing
// may not begin, so the others get its part, unless each has both bounds whole anyway; its maximum only once nobody is waited for.
func (p *plan) capOf(s Site) *Bounds {
	most := Bounds{Min: s.Min, Max: s.Max}
	if s.State == "" && s.Max == 0 {
		most = Bounds{Min: min(1, s.Current), Max: s.Current}
	}
	switch {
	case s.Standing == taints.Free:
		return nil
	case s.Current == 0 && !p.waiting && p.policy != Duplicated:
		most = Bounds{}
	case s.Standing == taints.Cordoned && s.Current == 0 && p.policy != Duplicated:
		most.Min = 0
	case most.Max == 0, s.Standing == taints.Cordoned:
	case !p.relieved:
		most.Max = min(most.Max, max(1, s.Current))
		most.Min = min(most.Max, most.Min, p.unborne())
	case s.Balks:
		most = Bounds{Max: 1}
	default:
		most = Bounds{}
	}
	return &most
}

// leastsOf are the greatest minima that the sites may have within these limits. One with a part has at least 1, as its autoscaler
// needs it.
func (p *plan) leastsOf(limits []int64) []int64 {
	leasts := p.leasts(limits)
	for i := range leasts {
		leasts[i] = max(leasts[i], min(1, limits[i]))
	}
	return leasts
}

// shortOf returns what the minima of the sites are short of the fleet's. Those that cordoned and drained ones have only because their
// autoscalers need it do not count: they may not begin, or are to go.
func (p *plan) shortOf() int64 {
	short := int64(p.Min) - p.silent.min
	for i, m := range p.members {
		if p.sites[i].Standing != taints.Free {
			short -= m.least(p.mins[i])
		} else {
			short -= p.mins[i]
		}
	}
	return short
}

// relieves: the sites that are not drained and have bounds run the minimum of the fleet, and at least one Pod, as Ready Pods; of a
// silent one that still counts, its minimum. What one that refuses was to run is not what it runs.
func (p *plan) relieves() bool {
	ready, unseen := int64(0), int64(0)
	for _, s := range p.Sites {
		switch {
		case s.Standing == taints.Drained || s.Max == 0:
		case s.Presence == Present, s.Presence == Refusing:
			ready += int64(min(s.Ready, s.Current))
		case p.counts(s):
			unseen += int64(min(s.Min, s.Current))
		}
	}
	return ready >= 1 && ready+unseen >= int64(p.Min)
}

// unborne is the part of the fleet's minimum that the sites which are not drained cannot take, by their ceilings. A cordoned one
// takes no more than it has, and nothing if it runs nothing, as it may not begin; one that is silent or refuses takes what it runs.
func (p *plan) unborne() int32 {
	left := int64(p.Min)
	for _, s := range p.Sites {
		switch {
		case s.Standing == taints.Drained:
		case p.counts(s), s.Presence == Present && s.Standing == taints.Cordoned:
			left -= int64(min(s.Min, s.Current))
		case s.Presence != Present:
		default:
			left -= int64(s.Ceiling)
		}
	}
	return int32(max(0, left))
}

// goes: the site is drained and still runs, so that what it runs is no longer counted on.
func (s Site) goes() bool { return s.Standing == taints.Drained && s.running() }

// leastRun is what the sites that stay are to run together, at least: the fleet's minimum, and something, as long as a drained one waits
// for that.
func (p *plan) leastRun() int64 {
	if !p.relieved && slices.ContainsFunc(p.sites, Site.goes) {
		return max(1, int64(p.Min))
	}
	return int64(p.Min)
}

// empty has a drained site run nothing once it has no bounds any more, and keeps one that is cordoned or drained from beginning.
func (p *plan) empty(i int) {
	s := p.sites[i]
	told := s.Ordered != nil && *s.Ordered == 0
	begins := p.relieved && !s.Balks && (s.Max > 0 || s.State == "")
	switch {
	case s.Standing == taints.Free:
	case s.Current == 0:
		p.scale[i] = nil
	case s.Standing == taints.Drained && p.maxes[i] == 0 && (told || begins):
		p.scale[i] = new(int32)
	}
}

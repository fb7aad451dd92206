// SPDX-License-Identifier: Apache-2.0

package assignment

import "slices"

// floors are the maxima that the sites in sight keep although others hold on to bounds of their own: a silent cluster
// never costs a healthy one its autoscaler. Each is the site's share with all sites in sight, but not more than it has; with
// a new spec what it runs counts too, and it is at least 1 where the share is. Shares follow what runs, so they are asked for
// only where a site wants its part back: otherwise each keeps what it has. Nil: no site holds on to anything.
func (p *plan) floors() []int64 {
	if p.silent.max == 0 || p.policy == Duplicated {
		return nil
	}
	if !p.Changed && !slices.ContainsFunc(p.sites, Site.returned) {
		return p.within(p.maxes)
	}
	shares := p.shares()
	return p.within(p.of(func(s Site) int64 {
		keeps := s.Max
		if p.Changed {
			keeps = max(s.Max, s.Current, 1)
		}
		return int64(min(shares[s.Name].Max, keeps))
	}))
}

// within are these maxima within the ceilings.
func (p *plan) within(maxes []int64) []int64 {
	within := make([]int64, len(maxes))
	for i := range maxes {
		within[i] = min(maxes[i], p.ceilings[i])
	}
	return within
}

// shares are the bounds by the spec if all sites could be told.
func (p *plan) shares() map[string]Bounds {
	q := p.question(p.policy != StaticWeighted)
	for _, s := range p.Sites {
		if s.Presence == Present || p.counts(s) {
			q.Clusters = append(q.Clusters, p.cluster(s))
		}
	}
	return Assign(q).Bounds
}

// budget returns what the maxima of the sites in sight add up to: what the others leave of Max, and never less than the floors.
// By what it is more, the fleet exceeds Max, and never by more than what the others hold on to.
func (p *plan) budget(floors []int64) int64 {
	return max(0, int64(p.Max)-p.silent.max, sum(floors))
}

// raiseTo raises maxima to their floors, and takes what that adds beyond the budget from those above theirs, from those
// filled last first.
func (p *plan) raiseTo(floors []int64, bounds map[string]Bounds) {
	excess := -p.budget(floors)
	for i, floor := range floors {
		b := bounds[p.sites[i].Name]
		if int64(b.Max) < floor {
			if b.Max == 0 && !p.toZero() {
				b.Initial = max(1, p.sites[i].Current)
			}
			b.Min, b.Max = max(1, b.Min), int32(floor)
			bounds[p.sites[i].Name] = b
		}
		excess += int64(b.Max)
	}
	for i := len(floors) - 1; i >= 0 && excess > 0; i-- {
		b := bounds[p.sites[i].Name]
		taken := min(excess, int64(b.Max)-floors[i])
		b.Max -= int32(taken)
		b.Min = min(b.Min, b.Max)
		bounds[p.sites[i].Name] = b
		excess -= taken
	}
}

// offered is the maximum that a refusing site would get if it took it, and the other ones did not.
func (p *plan) offered(name string) int32 {
	s := p.Snapshot
	s.Sites = slices.Clone(s.Sites)
	for i := range s.Sites {
		if s.Sites[i].Name == name {
			s.Sites[i].Presence = Present
		}
	}
	return newPlan(s).split(p.policy != StaticWeighted)[name].Max
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// initialize splits the bounds for a new spec; with Duplicated and StaticWeighted also for other clusters. Where the
// split follows more than the spec, no cluster loses room for what it runs.
func (p *plan) initialize() Action {
	if p.keepsRunning() {
		return p.wait()
	}
	switch {
	case p.policy == Duplicated && p.asSplit(p.split(false)):
		return ""
	case p.policy != Duplicated && !p.Changed && !p.joined():
		return ""
	}
	keep := p.policy != StaticWeighted && p.policy != Duplicated
	p.step.Incomplete = p.silent.max > 0
	p.adopt(p.split(keep))
	return Initialized
}

// keepsRunning: clusters ran more than their static shares before there were bounds, and do so still. Nothing is deleted
// for the sake of a first split.
func (p *plan) keepsRunning() bool {
	memory := &p.step.Memory
	began := p.Changed && !slices.ContainsFunc(p.Sites, func(s Site) bool { return s.Max > 0 })
	memory.KeepsRunning = p.policy == StaticWeighted && (began || memory.KeepsRunning && !p.Changed)
	if memory.KeepsRunning && !p.fits(p.split(false)) && p.fits(p.split(true)) {
		return true
	}
	p.ripe, memory.KeepsRunning = p.static() && memory.KeepsRunning && !began, false
	return false
}

// wait gives the clusters what they run and shares of the rest, and later nothing, until what they run fits their shares.
func (p *plan) wait() Action {
	if !p.Changed {
		return ""
	}
	p.adopt(p.split(true))
	return Initialized
}

// fits: no cluster runs more than these bounds allow.
func (p *plan) fits(bounds map[string]Bounds) bool {
	return !slices.ContainsFunc(p.sites, func(s Site) bool { return s.Current > bounds[s.Name].Max })
}

// joined: a cluster without bounds has a share by the spec alone, or takes bounds again, or all can have their shares at
// last. While one may be back at once, it waits.
func (p *plan) joined() bool {
	if p.policy != StaticWeighted || p.waiting {
		return false
	}
	if p.ripe {
		return true
	}
	bounds := p.split(false)
	recovered := p.static() && slices.ContainsFunc(p.sites, func(s Site) bool { return s.Recovered })
	return slices.ContainsFunc(p.sites, func(s Site) bool {
		return s.Max == 0 && bounds[s.Name].Max > 0 || recovered && s.Max != bounds[s.Name].Max
	})
}

// split returns what Assign says of the sites that are present. Those that are silent keep their bounds, and the others get
// the rest, and at least their floors.
func (p *plan) split(keep bool) map[string]Bounds {
	q, floors := p.question(keep), p.floors()
	if p.policy != Duplicated {
		q.Min, q.Max = int32(max(0, int64(p.Min)-p.silent.min)), int32(p.budget(floors))
	}
	q.Clusters = p.members
	a, terms := assign(q, p.asked)
	p.raiseTo(floors, a.Bounds)
	p.explainSplit(terms, a.Bounds)
	return a.Bounds
}

// question returns how the bounds of the fleet are to be split; the clusters are still missing.
func (p *plan) question(keep bool) AssignQuestion {
	return AssignQuestion{Policy: p.policy, UID: p.UID, Min: p.Min, Max: p.Max, Order: p.Order, ScalingToZero: p.ScalingToZero, Keep: keep}
}

func (p *plan) asSplit(bounds map[string]Bounds) bool {
	for i, s := range p.sites {
		if b := bounds[s.Name]; int64(b.Min) != p.mins[i] || int64(b.Max) != p.maxes[i] {
			return false
		}
	}
	return true
}

// adopt takes the bounds over, and lets clusters begin to run that had none, or may no longer be at zero. What
// somebody else has scaled to zero stays there.
func (p *plan) adopt(bounds map[string]Bounds) {
	p.why = p.lastSplit
	for i, s := range p.sites {
		b := bounds[s.Name]
		p.mins[i], p.maxes[i] = int64(b.Min), int64(b.Max)
		if begins := s.Max == 0 || s.State == v1alpha1.ClusterScaledToZero; begins && s.Current == 0 && b.Initial > 0 {
			p.scale[i] = new(min(b.Initial, b.Max))
		}
	}
}

// failOver makes the maxima add up again after clusters have gone or come back: what is missing is divided on top of what
// the others have, what is too much is taken where nothing runs. Static weights are split again.
func (p *plan) failOver() Action {
	if p.policy == Duplicated {
		return ""
	}
	lowered, floors := p.lower(), p.floors()
	missing := p.budget(floors) - sum(p.maxes)
	switch room := sum(minus(p.ceilings, p.maxes)); {
	case lowered:
	case missing == 0, missing > 0 && room <= 0:
		return p.raise()
	}
	if p.policy == StaticWeighted {
		p.step.Incomplete = p.silent.max > 0
		p.adopt(p.split(false))
		return FailedOver
	}
	if missing > 0 {
		p.from(Before, p.maxes)
		p.pour(missing, p.maxes, p.ceilings)
		p.explainMaxima(p.noted())
	} else {
		p.shrink(-missing, floors)
		p.lessenMinima()
	}
	p.mendMinima()
	return FailedOver
}

// lower cuts maxima to their ceilings: those that are above were out of sight when the spec was split, or are drained. So it does
// minima that a drained cluster is to give up.
func (p *plan) lower() bool {
	lowered := exceeds(p.maxes, p.ceilings)
	p.maxes = p.within(p.maxes)
	for i, least := range p.leastsOf(p.maxes) {
		lowered = lowered || p.mins[i] > least && p.members[i].Cap != nil
		if p.members[i].Cap != nil {
			p.mins[i] = min(p.mins[i], least)
		}
	}
	return lowered
}

// raise gives out what is missing of the minimum of the fleet although no maximum changes: a cluster that could not host
// its own may have given it to nobody.
func (p *plan) raise() Action {
	missing, limits := p.shortOf(), p.leastsOf(p.maxes)
	for i, s := range p.sites {
		if s.Unschedulable > 0 || s.State == v1alpha1.ClusterSaturated {
			limits[i] = p.mins[i]
		}
	}
	if p.waiting || missing <= 0 || p.pour(missing, p.mins, limits) == missing {
		return ""
	}
	p.begin()
	return FailedOver
}

// mendMinima gives every cluster with a maximum a minimum within it, and divides what is missing of the fleet's minimum.
// A cluster that gets its first bounds begins to run, unless it may run nothing.
func (p *plan) mendMinima() {
	for i := range p.mins {
		p.mins[i] = min(max(1, p.mins[i]), p.maxes[i])
	}
	if missing := p.shortOf(); missing > 0 {
		p.pour(missing, p.mins, p.leastsOf(p.maxes))
	}
	p.begin()
}

// lessenMinima takes back what was added to minima in place of clusters that are back: from those filled last first, all that
// is more than a split would give out.
func (p *plan) lessenMinima() {
	surplus := sum(p.mins)
	for _, b := range p.split(true) {
		surplus -= int64(b.Min)
	}
	for i := len(p.mins) - 1; i >= 0 && surplus > 0; i-- {
		taken := min(surplus, max(0, p.mins[i]-1))
		p.mins[i] -= taken
		surplus -= taken
	}
}

// begin lets clusters run whose first bounds these are.
func (p *plan) begin() {
	for i, s := range p.sites {
		if s.Max == 0 && p.maxes[i] > 0 && s.Current == 0 && !p.ScalingToZero {
			p.scale[i] = new(int32(p.mins[i]))
		}
	}
}

// base is the part of the maximum that a cluster is using.
func (p *plan) base() []int64 {
	base := p.of(func(s Site) int64 { return int64(s.Current) })
	for i := range base {
		base[i] = min(p.maxes[i], max(base[i], p.mins[i], 1))
	}
	return base
}

// shrink takes n from the maxima: from clusters that were away, all that nothing runs in; then the same from the others,
// in proportion; then from what runs, where it is filled last. None falls below its floor.
func (p *plan) shrink(n int64, floors []int64) {
	if floors == nil {
		floors = make([]int64, len(p.maxes))
	}
	base := p.base()
	for i, s := range p.sites {
		base[i] = max(base[i], min(floors[i], p.maxes[i]))
		if s.returned() {
			base[i] = max(min(max(1, floors[i]), p.maxes[i]), min(int64(s.Current), p.maxes[i]))
			n -= p.maxes[i] - base[i]
			p.maxes[i] = base[i]
		}
	}
	if n < 0 { // those that were away had more than is too much
		p.pour(-n, p.maxes, p.ceilings)
		return
	}
	spare := minus(p.maxes, base)
	taken, n := share(n, p.claims(spare, spare))
	p.maxes = minus(p.maxes, taken)
	for _, least := range []int64{1, 0} {
		n = p.cut(n, least, floors)
	}
}

// cut takes up to n from the maxima, from those filled last, down to the least that each keeps.
func (p *plan) cut(n, least int64, floors []int64) (left int64) {
	for i := len(p.maxes) - 1; i >= 0; i-- {
		taken := min(n, max(0, p.maxes[i]-max(least, floors[i])))
		p.maxes[i] -= taken
		n -= taken
	}
	return n
}

// returned: a site that is present was out of sight before, or was not of the fleet, and has bounds.
func (s Site) returned() bool {
	return s.State == v1alpha1.ClusterUnreachable || s.State == "" && s.Max > 0
}

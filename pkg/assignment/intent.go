// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Lapse is what of the last step must no longer be carried out. A recorded step is an intention: what it rested on may
// have changed since, as the program ended in between, or a cluster refused it.
type Lapse struct {
	// Orders are the sites that were told to run nothing, still run something, and may no longer do without it.
	Orders map[string]bool
	// Bounds: a maximum that is still to be lowered would take Pods away that run by now, and nothing calls for that; or one
	// that a site refuses would be more than is left for it. Then maxima fall no further than to what runs, and none grows
	// beyond what stands.
	Bounds bool
}

// Lapsed says of what has not been carried out yet whether its premise still holds. What is to begin or to grow harms
// nobody; what is to end or to shrink is judged by how the sites are now.
func Lapsed(s Snapshot) Lapse {
	p := newPlan(s)
	p.observe()
	lapse := Lapse{Orders: map[string]bool{}, Bounds: p.outgrown() || !p.ordained(false) && slices.ContainsFunc(s.Sites, p.cutsRunning)}
	for _, site := range s.Sites {
		if site.Ordered != nil && *site.Ordered == 0 && site.Current > 0 && !p.maySleep(site) {
			lapse.Orders[site.Name] = true
		}
	}
	return lapse
}

// maySleep: all that lets a cluster go to zero is still so. One that is not in sight, or refused it, stays as it is.
func (p *plan) maySleep(s Site) bool {
	if s.Standing == taints.Drained && s.Max == 0 {
		return true // the others ran enough when it was told
	}
	i := p.place(s.Name)
	return i >= 0 && !s.Balks && !p.waiting && p.quiet() && p.dispensable(i)
}

// place returns where a site that is present stands; -1: it is not.
func (p *plan) place(name string) int {
	return slices.IndexFunc(p.sites, func(s Site) bool { return s.Name == name })
}

// static: the spec alone gives the maxima.
func (p *plan) static() bool {
	return p.policy == Duplicated || p.policy == StaticWeighted && p.Rebalance.Strategy == v1alpha1.RebalanceNone
}

// ordained: the spec alone gives the maxima, or those that stand are too many for it, and what runs is as well. What
// refusing sites do not give up counts only if all counts: it is nobody's to make up for but their own.
func (p *plan) ordained(all bool) bool {
	standing, running := int64(0), int64(0)
	for _, s := range p.Sites {
		has := s.Stands
		switch {
		case s.Presence == Leaving || s.Presence == Silent && !p.counts(s):
			continue
		case s.Presence == Refusing && !all:
			has = min(s.Stands, s.Max)
		case s.Presence == Silent && s.Stands == 0: // what it has is not known
			has = s.Max
		}
		standing += int64(has)
		running += int64(min(has, s.hosted()))
	}
	return p.static() || standing > int64(p.Max) && running > int64(p.Max)
}

// outgrown: what a site was given and refuses, in place of another one, is the other's again.
func (p *plan) outgrown() bool {
	grows := slices.ContainsFunc(p.Sites, func(s Site) bool { return s.Presence == Refusing && s.Max > s.Stands })
	return p.policy != Duplicated && grows && p.silent.max+sum(p.maxes) > int64(p.Max)
}

// cutsRunning: the maximum that is still to be written is less than what runs, and not for the sake of the order in which
// clusters shrink.
func (p *plan) cutsRunning(s Site) bool {
	switch i := p.place(s.Name); {
	case s.Presence == Leaving || s.Standing == taints.Drained || s.Stands <= s.Max || s.Stands > s.Ceiling:
		return false
	case s.Presence == Refusing:
		return s.hosted() > s.Max && !p.ordained(true)
	case i < 0:
		return s.hosted() > s.Max
	default:
		return s.hosted() > s.Max && !p.drains(i)
	}
}

// drains: the load is still so low that a cluster of a low priority gets by with its maximum.
func (p *plan) drains(i int) bool {
	return p.mayDrain() && p.maxes[i] >= p.wantedByPriority()[i]
}

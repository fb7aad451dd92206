// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/taints"
)

// wake scales clusters from zero when those that run are not enough: with Prioritized the first, else all.
func (p *plan) wake() Action {
	if !p.toZero() || !p.tooFewRun() {
		return ""
	}
	for i, s := range p.sites {
		if s.Current > 0 || p.maxes[i] == 0 || s.Standing != taints.Free || s.Balks && s.Ordered != nil { // told already, and told again anyway
			continue
		}
		p.scale[i] = new(int32(p.mins[i]))
		p.step.Action = Woken
		if p.policy == Prioritized {
			break
		}
	}
	if p.step.Action == Woken {
		p.step.Memory.LastScaleFromZeroTime = new(metav1.NewTime(p.Now))
	}
	return p.step.Action
}

// tooFewRun: the load takes as much as all minima together, or a cluster is at its limit, or what runs, and is not to go, falls short
// of the fleet's minimum.
func (p *plan) tooFewRun() bool {
	runs := int64(0)
	for i, s := range p.sites {
		if s.running() && !s.goes() {
			runs += max(int64(s.Current), p.mins[i])
		}
	}
	if slices.ContainsFunc(p.Sites, p.strained) {
		return true
	}
	if !slices.ContainsFunc(p.sites, Site.running) {
		return !p.runsUnseen() && (p.Wanted || p.Min > 0)
	}
	_, _, known := p.load()
	return known && p.needed() >= sum(p.mins) || runs+p.silent.min < p.leastRun() && (p.still() || !p.liftable())
}

// strained: a cluster in sight runs all that it may, and wants more, or runs Pods that find no node.
func (p *plan) strained(s Site) bool {
	return (s.Presence == Present || s.Presence == Refusing) && s.running() && (s.limited() || p.full(s))
}

// runsUnseen: a cluster runs that may be back at once.
func (p *plan) runsUnseen() bool {
	return slices.ContainsFunc(p.Sites, func(s Site) bool { return p.counts(s) && s.running() })
}

// liftable: a cluster at zero has a minimum that one which runs can take.
func (p *plan) liftable() bool {
	room, idle := int64(0), false
	for i, s := range p.sites {
		if s.running() {
			room += p.liftedTo(i) - p.mins[i]
		} else {
			idle = idle || p.mins[i] > 1
		}
	}
	return idle && room > 0
}

// liftedTo is the greatest minimum that a cluster can take: not more than it is known to host, or Pods would wait there.
func (p *plan) liftedTo(i int) int64 {
	if p.sites[i].Standing != taints.Free {
		return p.mins[i]
	}
	if capacity := p.capacity(p.sites[i]); capacity != nil {
		return max(p.mins[i], min(p.maxes[i], int64(*capacity)))
	}
	return p.maxes[i]
}

// sleep scales one cluster to zero when all are at their minima and the others can carry its load.
func (p *plan) sleep() Action {
	if !p.quiet() {
		return ""
	}
	var candidates []int
	for i, s := range p.sites {
		if s.running() && !s.Balks {
			candidates = append(candidates, i)
		}
	}
	slices.Reverse(candidates) // the last to be filled is the first to be emptied
	if p.policy == Aggregated {
		slices.SortStableFunc(candidates, func(a, b int) int { return cmp.Compare(p.sites[a].Current, p.sites[b].Current) })
	}
	for _, i := range candidates {
		if p.dispensable(i) {
			p.scale[i] = new(int32)
			return Slept
		}
	}
	return ""
}

// quiet: there has been so little to do for a whole window that a cluster may go to zero.
func (p *plan) quiet() bool {
	_, _, known := p.load()
	return p.toZero() && known && p.underloaded() && p.atMinima() && !p.wokenLately()
}

// dispensable: the others that run, and are not to go, have minima enough for the fleet, and can carry the load of all.
func (p *plan) dispensable(site int) bool {
	mins, replicas := int64(0), int64(0)
	for i, s := range p.sites {
		if i != site && s.running() && !s.goes() {
			mins += p.mins[i]
			replicas += int64(s.Current)
		}
	}
	_, thousandths, _ := p.load()
	return mins >= max(1, int64(p.Min)) && thousandths <= replicas*whole
}

// atMinima: every cluster that runs is at its minimum, content, and without Pods that no node can take.
func (p *plan) atMinima() bool {
	for i, s := range p.sites {
		if s.running() && (int64(s.Current) != p.mins[i] || s.Desired != s.Current || !s.ScalingActive || s.Unschedulable > 0 || s.limited()) {
			return false
		}
	}
	return true
}

func (p *plan) wokenLately() bool {
	last := p.step.Memory.LastScaleFromZeroTime
	return last != nil && p.Now.Sub(last.Time) < p.Window
}

// lift gives the minima of clusters at zero to those that run, so that these run the fleet's minimum.
func (p *plan) lift() Action {
	if !p.toZero() || !p.liftable() {
		return ""
	}
	limits := slices.Clone(p.mins)
	for i, s := range p.sites {
		if s.running() {
			limits[i] = p.liftedTo(i)
		}
	}
	for i, s := range p.sites {
		if !s.running() && p.mins[i] > 1 {
			given := p.mins[i] - 1
			p.mins[i] -= given
			limits[i] = p.mins[i]
			p.mins[i] += p.pour(given, p.mins, limits)
		}
	}
	return MinimumMoved
}

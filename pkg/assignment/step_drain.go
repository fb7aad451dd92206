// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// strict: clusters shrink in the order of their priorities.
func (p *plan) strict() bool {
	return p.policy == Prioritized && p.ScaleDownOrder != v1alpha1.ScaleDownBestEffort
}

// lowest are the clusters of the lowest priority that run more than their minimum.
func (p *plan) lowest() (places []int) {
	for i, s := range p.sites {
		if !p.runs(i) || int64(s.Current) <= p.mins[i] {
			continue
		}
		if len(places) > 0 && p.sites[places[0]].Priority != s.Priority { // the roster has the highest first
			places = nil
		}
		places = append(places, i)
	}
	return places
}

// runs: the site will run something under an autoscaler of ours.
func (p *plan) runs(i int) bool { return p.sites[i].Current > 0 && p.maxes[i] > 0 }

// shrinking is the lowest priority of a cluster that still can shrink: those above it may not for now. A silent one can, for
// all we know, until others have taken its place over. One that refuses may never shrink, so it is waited for only as long.
func (p *plan) shrinking() (least int32) {
	least = math.MaxInt32
	if !p.strict() {
		return least
	}
	for _, i := range p.lowest() {
		least = min(least, p.sites[i].Priority)
	}
	for _, s := range p.Sites {
		if p.counts(s) && !s.GivenUp && s.running() && s.Current > s.Min {
			least = min(least, s.Priority)
		}
	}
	return least
}

const maxWindow = time.Hour // what a HorizontalPodAutoscaler accepts

// tiers are the priorities of the clusters with a part, each once. They do not change when one is out of sight for a while.
func (p *plan) tiers() []int32 {
	var tiers []int32
	for i := range p.sites {
		if p.maxes[i] > 0 {
			tiers = append(tiers, p.sites[i].Priority)
		}
	}
	for _, s := range p.Sites {
		if p.counts(s) && s.Max > 0 {
			tiers = append(tiers, s.Priority)
		}
	}
	slices.Sort(tiers)
	return slices.Compact(tiers)
}

// window returns how long a cluster with a part waits before it shrinks: a step longer for each tier below its own, where
// nobody holds it. 0: as the spec says.
func (p *plan) window(s Site, tiers []int32) time.Duration {
	if p.policy != Prioritized || p.strict() {
		return 0
	}
	below, _ := slices.BinarySearch(tiers, s.Priority)
	return min(maxWindow, p.Window+time.Duration(below)*p.WindowStep)
}

// drain empties the clusters of the lowest priority as far as the load allows. Their own autoscalers stop earlier: what
// is held above them keeps the load of each Pod low, so that few of them seem enough. Where nothing is held above them, they
// do what is right by themselves.
func (p *plan) drain() Action {
	if !p.mayDrain() {
		return ""
	}
	wanted, before, turn := p.wantedByPriority(), slices.Clone(p.maxes), p.shrinking()
	for _, i := range p.lowest() {
		if s := p.sites[i]; s.Priority <= turn && s.Steady && s.running() && p.holdsAbove(s) && wanted[i] < int64(s.Current) {
			p.maxes[i] = min(p.maxes[i], wanted[i])
		}
	}
	if freed := sum(before) - sum(p.maxes); freed == 0 || !p.entrust(freed, before) {
		p.maxes = before
		return ""
	}
	p.step.Memory.LastRebalanceTime = new(metav1.NewTime(p.Now))
	return Drained
}

// mayDrain: clusters shrink in order, and the load has been low for a whole window.
func (p *plan) mayDrain() bool {
	_, thousandths, known := p.load()
	return p.strict() && known && p.underloaded() && thousandths < p.hosted()*(whole-p.Tolerance)
}

// hosted are the replicas that run: those for which there is no node carry nothing.
func (p *plan) hosted() (n int64) {
	for _, s := range p.sites {
		if s.running() {
			n += int64(s.hosted())
		}
	}
	return n
}

// holdsAbove: a cluster of a higher priority runs.
func (p *plan) holdsAbove(s Site) bool {
	for i, other := range p.sites {
		if p.runs(i) && other.Priority > s.Priority {
			return true
		}
	}
	return false
}

// entrust gives what drained clusters were freed of to the first above them that has bounds and is not full, and what none can
// take back to them. It reports whether one of them shrinks at all.
func (p *plan) entrust(freed int64, before []int64) (shrinks bool) {
	lowest, above, back := int32(math.MaxInt32), slices.Clone(p.maxes), slices.Clone(p.maxes)
	for i, s := range p.sites {
		if p.maxes[i] < before[i] {
			lowest, back[i] = s.Priority, before[i]
		}
	}
	for i, s := range p.sites {
		if before[i] > 0 && s.Priority > lowest && s.Unschedulable == 0 && s.State != v1alpha1.ClusterSaturated {
			above[i] = p.ceilings[i]
		}
	}
	fill(fill(freed, p.maxes, above), p.maxes, back)
	for i, s := range p.sites {
		shrinks = shrinks || p.maxes[i] < min(before[i], int64(s.Current))
	}
	return shrinks
}

// wantedByPriority returns what each cluster would run of what the load takes, if the highest priority gave up last.
func (p *plan) wantedByPriority() []int64 {
	wanted, most := make([]int64, len(p.sites)), make([]int64, len(p.sites))
	for i, s := range p.sites {
		if s.running() {
			wanted[i], most[i] = p.mins[i], max(p.mins[i], int64(s.hosted()))
		}
	}
	fill(max(0, p.needed()-sum(wanted)), wanted, most)
	return wanted
}

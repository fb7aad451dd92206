// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
	"k8s.io/utils/ptr"
)

// followDemand moves maxima from clusters that do not need theirs, or cannot use them, to clusters that want more; if
// there are none, minima.
func (p *plan) followDemand() Action {
	if p.moveMaxima() || p.moveMinima() {
		return DemandFollowed
	}
	return ""
}

// rested: the site has an autoscaler that has not scaled lately.
func (p *plan) rested(s Site) bool {
	return s.running() && (s.LastScale == nil || p.Now.Sub(*s.LastScale) >= p.Rest)
}

func (p *plan) moveMaxima() bool {
	demand := p.of(p.demand)
	stuck, idle := make([]int64, len(p.sites)), make([]int64, len(p.sites))
	for i, s := range p.sites {
		if demand[i] = min(demand[i], p.ceilings[i]-p.maxes[i]); s.Additional != nil {
			demand[i] = min(demand[i], int64(p.additional(s)))
		}
		stuck[i], idle[i] = p.offers(s)
	}
	wanted := min(sum(demand), sum(stuck)+sum(idle))
	if wanted <= 0 {
		return false
	}
	left := p.take(wanted, stuck)
	p.take(left, idle)
	for i := range stuck {
		if p.maxes[i] < int64(p.sites[i].Max) && stuck[i] > 0 {
			p.enter(i, v1alpha1.ClusterSaturated)
		}
	}
	gives, _ := share(wanted, p.claims(demand, demand))
	for i := range gives {
		p.maxes[i] += gives[i]
	}
	return true
}

// demand returns how many replicas the site wants beyond its maximum.
func (p *plan) demand(s Site) int64 {
	if !p.rested(s) || s.Current != s.Desired || s.Current != s.Max || !s.limited() || s.Unschedulable > 0 ||
		s.State == v1alpha1.ClusterSaturated {
		return 0
	}
	wants := int64(0)
	if len(s.Ratios) > 0 {
		wants = ceilDiv(int64(s.Current)*slices.Max(s.Ratios), whole)
	}
	return max(1, wants-int64(s.Max))
}

// offers returns what the site cannot use of its maximum, or half of what it does not need.
func (p *plan) offers(s Site) (stuck, idle int64) {
	switch spare := int64(s.Max - max(s.Current, s.Desired, s.Min, 1)); {
	case !p.rested(s):
		return 0, 0
	case p.full(s):
		return max(0, int64(s.Max-max(s.hosted(), s.Min, 1))), 0
	case spare > 0:
		return 0, max(1, spare/2)
	default:
		return 0, 0
	}
}

// take takes up to n from the maxima, from those who offer most first.
func (p *plan) take(n int64, offers []int64) (left int64) {
	places := make([]int, len(offers))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(offers[b], offers[a]) })
	for _, i := range places {
		taken := min(n, offers[i])
		p.maxes[i] -= taken
		n -= taken
	}
	return n
}

// moveMinima moves one from each cluster whose minimum is far too much to one that needs more than its minimum.
func (p *plan) moveMinima() bool {
	var donors, receivers []int
	for i, s := range p.sites {
		switch {
		case !p.rested(s):
		case p.oversized(s):
			donors = append(donors, i)
		case s.Desired > s.Min && s.Min < s.Max && s.Standing == taints.Free && !p.idle(s):
			receivers = append(receivers, i)
		}
	}
	short := func(i int) int32 { return p.sites[i].Desired - p.sites[i].Min }
	slices.SortStableFunc(donors, func(a, b int) int { return cmp.Compare(slices.Max(p.sites[a].Ratios), slices.Max(p.sites[b].Ratios)) })
	slices.SortStableFunc(receivers, func(a, b int) int { return cmp.Compare(short(b), short(a)) })
	pairs := min(len(donors), len(receivers))
	for k := range pairs {
		p.mins[donors[k]]--
		p.mins[receivers[k]]++
	}
	return pairs > 0
}

// oversized: the site runs its minimum, and the load takes but a part of that.
func (p *plan) oversized(s Site) bool {
	return s.Current == s.Desired && s.Current == s.Min && s.Min > 1 && p.idle(s)
}

// idle: the load takes but a part of what runs. If such a site wants more than its minimum, then only because its autoscaler still
// remembers a greater load.
func (p *plan) idle(s Site) bool {
	return len(s.Ratios) > 0 && slices.Max(s.Ratios) < int64(ptr.Deref(p.Rebalance.MinUtilizationPercent, 50))*whole/100
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// spill takes from clusters what they could not host for a whole delay: their maximum becomes what they host, and the
// rest goes to clusters without that trouble. With Duplicated and StaticWeighted the shares stay.
func (p *plan) spill() Action {
	if p.policy != Prioritized && p.policy != DynamicWeighted && p.policy != Aggregated {
		return ""
	}
	acted := false
	for i, s := range p.sites {
		if hosts := max(1, int64(s.hosted())); p.full(s) && p.maxes[i] > hosts {
			acted = p.spillFrom(i, p.maxes[i]-hosts) || acted
		}
	}
	if !acted {
		return ""
	}
	return Spilled
}

// spillFrom moves as much of a maximum as others may take.
func (p *plan) spillFrom(donor int, freed int64) bool {
	receivers := p.receivers(donor)
	left := freed
	for _, known := range []bool{true, false} { // what is known to be hosted; then all, to the first
		for _, i := range receivers {
			limit := p.ceilings[i]
			if known {
				limit = min(limit, p.members[i].capacity())
			}
			left -= p.grow(i, min(left, limit-p.maxes[i]))
		}
	}
	if left == freed {
		p.step.AllSaturated = true
		return false
	}
	p.maxes[donor] -= freed - left
	lost := p.mins[donor] - min(p.mins[donor], p.maxes[donor])
	p.mins[donor] -= lost
	for _, i := range receivers {
		give := min(lost, p.maxes[i]-p.mins[i])
		p.mins[i] += give
		lost -= give
	}
	for _, i := range receivers {
		p.startReceiver(i)
	}
	p.enter(donor, v1alpha1.ClusterSaturated)
	return true
}

// grow raises a maximum by n, and sees that there is a minimum.
func (p *plan) grow(i int, n int64) int64 {
	if n <= 0 {
		return 0
	}
	p.maxes[i] += n
	p.mins[i] = max(1, p.mins[i])
	return n
}

// startReceiver lets a cluster run that got more than it had and runs nothing.
func (p *plan) startReceiver(i int) {
	if s := p.sites[i]; s.Current == 0 && p.maxes[i] > int64(s.Max) {
		p.scale[i] = new(int32(p.mins[i]))
	}
}

// receivers are the clusters that may take what a donor cannot host, the first first: by the policy's order, but with
// Prioritized those below the donor before those above it.
func (p *plan) receivers(donor int) []int {
	var below, above []int
	for i, s := range p.sites {
		switch {
		case i == donor || s.Standing != taints.Free || s.Unschedulable > 0 || s.State == v1alpha1.ClusterSaturated:
		case p.policy == Prioritized && i < donor:
			above = append(above, i)
		default:
			below = append(below, i)
		}
	}
	return append(below, above...)
}

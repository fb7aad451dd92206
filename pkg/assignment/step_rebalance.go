// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// rebalance moves bounds by the strategy, at most once in an interval.
func (p *plan) rebalance() Action {
	interval := time.Duration(ptr.Deref(p.Rebalance.IntervalSeconds, v1alpha1.DefaultRebalanceIntervalSeconds)) * time.Second
	if p.strict() { // where one is drained, its autoscaler remembers for a window that it ran more, and would do so again
		interval = max(interval, p.Window+p.Rest)
	}
	last := p.step.Memory.LastRebalanceTime
	if last != nil && p.Now.Sub(last.Time) < interval || p.policy == Duplicated {
		return ""
	}
	var action Action
	switch p.Rebalance.Strategy {
	case v1alpha1.RebalanceCapacity:
		action = p.followCapacity()
	case v1alpha1.RebalanceDemand:
		action = p.followDemand()
	}
	if action != "" {
		p.step.Memory.LastRebalanceTime = new(metav1.NewTime(p.Now))
	}
	return action
}

// followCapacity moves the part of the maxima that nobody uses to where it can be hosted; what nobody can host for sure
// stays where it is.
func (p *plan) followCapacity() Action {
	base := p.base()
	spare := minus(p.maxes, base)
	room := p.of(func(s Site) int64 {
		if s.State == v1alpha1.ClusterSaturated {
			return 0
		}
		return int64(p.additional(s))
	})
	for i := range room {
		room[i] = min(room[i], p.ceilings[i]-base[i])
	}
	moved := min(sum(spare), sum(room))
	x := p.host(moved, base, room)
	if !exceeds(x, p.maxes) {
		return "" // what can be hosted is where it can be hosted
	}
	limits := slices.Clone(x)
	for i := range limits {
		limits[i] = min(x[i]+spare[i], p.ceilings[i])
	}
	p.pourBy(ByWeight, sum(spare)-moved, x, limits, spare) // fits: what is not moved has its room already
	if !p.worthwhile(x) {
		return ""
	}
	p.maxes = x
	for i := range p.mins {
		p.mins[i] = min(max(1, p.mins[i]), p.maxes[i])
	}
	p.begin()
	return CapacityFollowed
}

// host adds n to the base where there is room: with DynamicWeighted in proportion to it, else in the policy's order.
func (p *plan) host(n int64, base, room []int64) []int64 {
	x, limits := slices.Clone(base), slices.Clone(base)
	for i := range limits {
		limits[i] += room[i]
	}
	if p.policy.fills() {
		fill(n, x, limits)
	} else {
		p.pourBy(ByWeight, n, x, limits, room)
	}
	return x
}

// exceeds: some number is above its bound.
func exceeds(x, bounds []int64) bool {
	for i := range x {
		if x[i] > bounds[i] {
			return true
		}
	}
	return false
}

// worthwhile: a cluster at its limit would get more, or a twentieth of all would move.
func (p *plan) worthwhile(x []int64) bool {
	moved := int64(0)
	for i, s := range p.sites {
		if x[i] > p.maxes[i] && s.limited() {
			return true
		}
		moved += max(x[i]-p.maxes[i], p.maxes[i]-x[i])
	}
	return moved*20 >= int64(p.Max)
}

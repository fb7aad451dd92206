// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// AssignQuestion is how the bounds of a FederatedHPA are to be split into those of its clusters.
type AssignQuestion struct {
	Policy        Policy // not LoadWeighted
	UID           string // of the FederatedHPA; decides among equals
	Min, Max      int32  // of the whole fleet
	Order         v1alpha1.DistributionOrder
	ScalingToZero bool
	// Keep: if Max reaches for what runs, no cluster gets a maximum below what it runs, unless its ceiling says so.
	Keep     bool
	Clusters []Cluster // those that take part, in any order
}

// Bounds are those of one cluster's HorizontalPodAutoscaler.
type Bounds struct {
	Min, Max int32 // both 0: it gets none. Otherwise 1 <= Min <= Max
	// Bumped: the cluster's part of the minimum is 0, and Min is 1 only because a HorizontalPodAutoscaler needs it to be.
	Bumped bool
	// Initial is the number of replicas to begin with; where replicas run, as many.
	Initial int32
}

// Assignment is how the bounds are split.
type Assignment struct {
	Bounds map[string]Bounds // of every cluster of the question
	// Unassigned is the part of the maximum that the ceilings of the clusters leave to nobody.
	Unassigned int32
	// Unweighted: no cluster has a weight (or capacity, by the policy), so all weigh the same.
	Unweighted bool
}

// Assign splits the bounds. The maxima add up to Max, but for Unassigned. The minima add up to Min, and one more for each
// cluster whose part would be 0. With Duplicated each cluster gets both bounds whole.
func Assign(q AssignQuestion) Assignment {
	assignment, _ := assign(q, false)
	return assignment
}

// assign is Assign; if that is asked, it also says what the bounds of each cluster add up from.
func assign(q AssignQuestion, asked bool) (Assignment, map[string]Terms) {
	a := assigner{AssignQuestion: q, roster: newRoster(q.Policy, q.UID, q.Clusters)}
	a.asked = asked
	unassigned := a.split()
	a.bump()
	return Assignment{
		Bounds:     a.bounds(),
		Unassigned: int32(unassigned),
		Unweighted: q.Policy != Duplicated && a.unweighted && !q.Policy.fills(),
	}, a.termsOf()
}

// assigner is a question made ready; its slices are in the order of the roster.
type assigner struct {
	AssignQuestion
	roster
	parts []int64 // of Min
	mins  []int64
	maxes []int64
	// why is what parts and maxes add up from, if that is asked.
	why struct{ min, max [][]Term }
}

// split divides both bounds and returns what found no place of Max.
func (a *assigner) split() (unassigned int64) {
	ceilings := a.each(func(m Cluster) int64 { return m.most() })
	least, most := min(int64(a.Min), int64(a.Max)), int64(a.Max)
	switch {
	case a.policy == Duplicated:
		a.maxes = a.each(func(m Cluster) int64 { return m.whole(most) })
		a.parts = a.leasts(a.each(func(m Cluster) int64 { return min(least, m.whole(most)) }))
		a.why.max, a.why.min = a.allWhole(a.maxes), a.allWhole(a.parts)
	case a.Order == v1alpha1.DistributionMinFirst:
		a.parts, _ = a.divide(min(max(1, least), most), a.leasts(ceilings))
		a.why.min = a.noted()
		for i, part := range a.parts {
			if part == 0 {
				ceilings[i] = 0
			}
		}
		a.maxes, unassigned = a.divideAbove(a.kept(a.running(ceilings)), most, ceilings)
		if a.why.max = a.noted(); exceeds(a.parts, a.maxes) {
			a.parts, _ = a.divide(min(max(1, least), most), a.leasts(a.maxes))
			a.why.min = a.noted()
		}
	default:
		a.maxes, unassigned = a.divideAbove(a.running(ceilings), most, ceilings)
		a.why.max = a.noted()
		a.parts, _ = a.divide(least, a.leasts(a.maxes))
		a.why.min = a.noted()
	}
	return unassigned
}

// kept are the parts of the minimum, or what runs where that is more; where there is not enough for both, what runs.
func (a *assigner) kept(running []int64) []int64 {
	kept := slices.Clone(a.parts)
	for i := range kept {
		kept[i] = max(kept[i], running[i])
	}
	if sum(kept) > int64(a.Max) {
		return running
	}
	return kept
}

// whole is the maximum of a cluster that gets all of it, whatever its ceiling.
func (c Cluster) whole(most int64) int64 {
	if c.Cap == nil {
		return most
	}
	return min(most, int64(c.Cap.Max))
}

// running are the replicas that a new maximum must not take away.
func (a *assigner) running(ceilings []int64) []int64 {
	kept := a.each(func(m Cluster) int64 { return int64(m.Current) })
	if !a.Keep || sum(kept) > int64(a.Max) {
		return make([]int64, len(kept))
	}
	for i := range kept {
		kept[i] = min(kept[i], ceilings[i])
	}
	return kept
}

// bump gives every cluster with a maximum a minimum.
func (a *assigner) bump() {
	a.mins = make([]int64, len(a.parts))
	for i, part := range a.parts {
		a.mins[i] = min(max(1, part), a.maxes[i])
	}
}

func (a *assigner) bounds() map[string]Bounds {
	initial := a.initial()
	bounds := make(map[string]Bounds, len(a.members))
	for i, m := range a.members {
		bounds[m.Name] = Bounds{
			Min:     int32(a.mins[i]),
			Max:     int32(a.maxes[i]),
			Bumped:  a.mins[i] > a.parts[i],
			Initial: int32(initial[i]),
		}
	}
	return bounds
}

// initial are the replicas to begin with. Where clusters may run none they do, except for as many, the first of the
// policy, as the fleet's minimum takes.
func (a *assigner) initial() []int64 {
	initial := a.each(func(m Cluster) int64 { return int64(m.Current) })
	for i := range initial {
		if a.maxes[i] == 0 {
			initial[i] = 0
		}
	}
	for i := range initial {
		toZero := a.ScalingToZero && a.policy != Duplicated
		if initial[i] == 0 && (!toZero || sum(initial) < int64(a.Min)) {
			initial[i] = a.mins[i]
		}
	}
	return initial
}

// SPDX-License-Identifier: Apache-2.0

package sizes

import "slices"

// Template is a Pod as its workload's template has it, and as an API server admits it: with the defaults of LimitRanges.
type Template struct {
	Containers []Container
	// Guaranteed is true if all requests equal their limits. This cannot change, so limits follow requests.
	Guaranteed bool
	// Fixed is what is requested, and limited, together by all that is not among the containers: others, and overhead.
	Fixed Resources
}

// Resources are those of a container. What is not set is None.
type Resources struct{ Requests, Limits Amounts }

// Container is a container of a Template, and what is wanted of it.
type Container struct {
	Name string
	Resources
	// Advice is None for what is not sized.
	Advice Advice
	// MinAllowed and MaxAllowed are what its users allow.
	MinAllowed, MaxAllowed Amounts
	// LimitsFollow has the limit of a resource keep its proportion to the request. Else it stays as it is.
	LimitsFollow [2]bool
	// GoalFloor is the least that it may request, lest the replicas that an autoscaler adds are too small; and
	// GoalLimit its least limit, lest a limit hides the use that the autoscaler measures.
	GoalFloor, GoalLimit Amounts
}

// Size is what a container should have.
type Size struct {
	Name string
	Advice
	// Uncapped is what the target was before anything bounded it.
	Uncapped Amounts
	// Limits are those that go with the target; None where limits stay as they are.
	Limits Amounts
	// CappedBy is what changed the target, in the order in which it did.
	CappedBy []Cap
}

// Cap is why a target is not what was advised.
type Cap struct {
	Resource Resource
	Reason   Reason
}

// Reason names what bounds a size.
type Reason string

// What bounds a size. With the last two nothing is advised: the resource stays as the template has it.
const (
	ReasonGoalFloor         Reason = "GoalFloor"
	ReasonMinAllowed        Reason = "MinAllowed"
	ReasonMaxAllowed        Reason = "MaxAllowed"
	ReasonLimitRangeMin     Reason = "LimitRangeMin"
	ReasonLimitRequestRatio Reason = "MaxLimitRequestRatio"
	ReasonGoalLimit         Reason = "GoalLimit"
	ReasonLimitRangeMax     Reason = "LimitRangeMax"
	ReasonLimit             Reason = "Limit"
	ReasonQuota             Reason = "Quota"
	ReasonLargestNode       Reason = "LargestNode"
	ReasonGoalHiddenByLimit Reason = "GoalHiddenByLimit"
	ReasonNothingLegal      Reason = "NothingLegal"
)

// CapAll returns the sizes of a Pod's containers, such that a Pod of that size is admitted and can run. What users allow
// counts for less than that, and of what they allow the maximum counts for more than the minimum. Where nothing is legal, the
// resource stays as the template has it, and is None. To cap once more changes nothing.
func CapAll(t Template, room Room) []Size {
	sizes := make([]Size, len(t.Containers))
	for n, c := range t.Containers {
		sizes[n] = Size{Name: c.Name, Advice: noAdvice(), Uncapped: c.Advice.Target, Limits: none()}
	}
	for r := range resources {
		p := newPod(&t, &room, r)
		p.fit()
		for _, c := range slices.Concat(p.sized, p.left) {
			c.write(&sizes[c.container], r)
		}
	}
	return sizes
}

// CapAny caps sizes such that a Pod is admitted and can run in one of the rooms, which differ by their nodes: that which leaves
// most of what is advised. Of equals it is the first. Without any room nothing bounds but the template.
func CapAny(t Template, rooms []Room) []Size {
	if len(rooms) == 0 {
		return CapAll(t, Unlimited())
	}
	var best []Size
	left := -1.0
	for _, room := range rooms {
		all := CapAll(t, room)
		if l := leftOf(all); l > left {
			best, left = all, l
		}
	}
	return best
}

// leftOf is what bounds leave of what is advised: of each resource a part, more than 1 where it is raised.
func leftOf(all []Size) (left float64) {
	for r := range resources {
		var advised, capped int64
		for _, s := range all {
			advised, capped = advised+max(0, s.Uncapped[r]), capped+max(0, s.Target[r])
		}
		left += float64(capped) / float64(max(1, advised))
	}
	return left
}

// SPDX-License-Identifier: Apache-2.0

package sizes

import "slices"

// capped is what a container is to request of one resource, and what bounds that.
type capped struct {
	container    int
	lower, upper int64
	target       int64 // None if the resource stays as the template has it
	bounds       []bound
	least        int64 // that is legal
	low, high    int64 // that users allow, as far as it is legal
	limit        proportion
	reasons      []Reason
}

// bound is something by which an amount is raised, or cut.
type bound struct {
	reason Reason
	amount int64 // None does not bound
	least  bool  // the amount is the least, and not the most
}

func (b bound) apply(v int64) int64 {
	switch {
	case b.amount < 0:
		return v
	case b.least:
		return max(v, b.amount)
	}
	return min(v, b.amount)
}

// capContainer bounds what is advised by all that concerns the container alone: first by what is wished, then by what is legal.
func capContainer(c *Container, guaranteed bool, rules LimitRange, r Resource) *capped {
	k := &capped{lower: c.Advice.Lower[r], target: c.Advice.Target[r], upper: c.Advice.Upper[r], least: 1, high: most}
	if c.LimitsFollow[r] || guaranteed {
		k.limit = proportionOf(c.Limits[r], c.Requests[r])
	}
	if limit := c.Limits[r]; limit >= 0 && limit < c.GoalLimit[r] && !k.limit.follows() {
		k.leave(ReasonGoalHiddenByLimit)
		return k
	}
	laws := k.limit.laws(c.Limits[r], c.GoalLimit[r], rules, r)
	for _, law := range laws {
		if law.least {
			k.least = law.apply(k.least)
		}
	}
	k.bounds = append([]bound{
		{ReasonGoalFloor, c.GoalFloor[r], true},
		{ReasonMinAllowed, c.MinAllowed[r], true},
		{ReasonMaxAllowed, c.MaxAllowed[r], false},
	}, laws...)
	for _, b := range k.bounds {
		v := b.apply(k.target)
		k.change(v, b.reason)
		k.low, k.high = b.apply(k.low), b.apply(k.high)
	}
	if k.high < k.least {
		k.leave(ReasonNothingLegal)
		return k
	}
	k.target, k.low = max(k.target, k.least), max(k.low, k.least)
	return k
}

// laws bound a request, so that it and its limit are legal, and the limit does not hide what a goal measures. A request of
// nothing is none, which may change the class of the Pod: therefore it is at least 1.
func (p proportion) laws(limit, goal int64, rules LimitRange, r Resource) []bound {
	laws := []bound{{ReasonLimitRangeMin, rules.Min[r], true}}
	if p.follows() {
		return append(laws, bound{ReasonGoalLimit, p.least(goal), true}, bound{ReasonLimitRangeMax, p.most(rules.Max[r]), false})
	}
	if ratio := rules.MaxRatio[r]; limit > 0 && ratio > 0 {
		laws = append(laws, bound{ReasonLimitRequestRatio, mulDivUp(limit, 1000, ratio), true})
	}
	return append(laws, bound{ReasonLimitRangeMax, rules.Max[r], false}, bound{ReasonLimit, limit, false})
}

func (c *capped) change(target int64, why Reason) {
	if target != c.target {
		c.target, c.reasons = target, append(c.reasons, why)
	}
}

// leave has the resource stay as the template has it.
func (c *capped) leave(why ...Reason) {
	c.target = None
	for _, w := range why {
		if !slices.Contains(c.reasons, w) {
			c.reasons = append(c.reasons, w)
		}
	}
}

// write tells the size.
func (c *capped) write(s *Size, r Resource) {
	for _, why := range c.reasons {
		s.CappedBy = append(s.CappedBy, Cap{r, why})
	}
	if c.target < 0 {
		return
	}
	for _, b := range c.bounds {
		c.lower, c.upper = b.apply(c.lower), b.apply(c.upper)
	}
	s.Target[r], s.Lower[r], s.Upper[r] = c.target, min(max(c.lower, c.least), c.target), max(c.upper, c.target)
	if c.limit.follows() {
		s.Limits[r] = c.limit.of(c.target)
	}
}

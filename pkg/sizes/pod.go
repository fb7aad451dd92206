// SPDX-License-Identifier: Apache-2.0

package sizes

import "slices"

// pod is what the containers of a Pod are to request of one resource together.
type pod struct {
	*Room
	Resource
	sized []*capped // in the order of the template
	left  []*capped // those that stay as they are, though something else was advised
	// requests and limits are those that do not change.
	requests, limits int64
}

func newPod(t *Template, room *Room, r Resource) *pod {
	p := &pod{Room: room, Resource: r, requests: max(0, t.Fixed.Requests[r]), limits: max(0, t.Fixed.Limits[r])}
	for n := range t.Containers {
		c := &t.Containers[n]
		k := &capped{target: None}
		if c.Advice.Target[r] >= 0 {
			k = capContainer(c, t.Guaranteed, room.Container, r)
			k.container = n
		}
		switch {
		case k.target >= 0:
			p.sized = append(p.sized, k)
		case k.reasons != nil:
			p.left = append(p.left, k)
		}
		if k.target < 0 {
			p.requests += max(0, c.Requests[r])
		}
		if k.target < 0 || !k.limit.follows() {
			p.limits += max(0, c.Limits[r])
		}
	}
	return p
}

// measure is what counts of a container that requests so much.
type measure func(c *capped, request int64) int64

func byRequest(_ *capped, request int64) int64 { return request }

func byLimit(c *capped, request int64) int64 {
	if c.limit.follows() {
		return c.limit.of(request)
	}
	return 0
}

// The requests of a container between which it is cut or raised.
func target(c *capped) int64 { return c.target }
func low(c *capped) int64    { return c.low }
func high(c *capped) int64   { return c.high }
func least(c *capped) int64  { return c.least }

func (p *pod) sum(of measure, amount func(*capped) int64) (sum int64) {
	for _, c := range p.sized {
		sum += of(c, amount(c))
	}
	return sum
}

// follow is how many limits change with requests.
func (p *pod) follow() (n int64) {
	for _, c := range p.sized {
		if c.limit.follows() {
			n++
		}
	}
	return n
}

// fit bounds the targets together.
func (p *pod) fit() {
	for _, b := range p.requestBounds() {
		p.cut(b, byRequest, p.requests, 0)
	}
	for _, b := range p.limitBounds() {
		p.cut(b, byLimit, p.limits, 2*p.follow()) // limits are rounded
	}
	for _, b := range p.leastRequests() {
		p.raise(b)
	}
	if b, found := p.broken(); found {
		for _, c := range p.sized {
			c.leave(b.reason, ReasonNothingLegal)
		}
	}
}

// requestBounds are what all containers may request together.
func (p *pod) requestBounds() []bound {
	r := p.Resource
	return []bound{
		{ReasonLimitRangeMax, p.Pod.Max[r], false},
		{ReasonQuota, p.Quota.Requests[r], false},
		{ReasonLargestNode, p.node(r), false},
	}
}

// limitBounds are what their limits may be together. Limits that do not change are not ours to bound.
func (p *pod) limitBounds() []bound {
	if p.follow() == 0 {
		return nil
	}
	r := p.Resource
	return []bound{{ReasonLimitRangeMax, p.Pod.Max[r], false}, {ReasonQuota, p.Quota.Limits[r], false}}
}

// leastRequests are what they have to request together.
func (p *pod) leastRequests() []bound {
	bounds := []bound{{ReasonLimitRangeMin, p.Pod.Min[p.Resource], true}}
	if ratio := p.Pod.MaxRatio[p.Resource]; ratio > 0 {
		bounds = append(bounds, bound{ReasonLimitRequestRatio, mulDivUp(p.limits+p.sum(byLimit, target), 1000, ratio), true})
	}
	return bounds
}

// cut makes what counts no more than the bound: each container is cut by the same part of what it has above what users
// allow; or, if that is too much, of what they allow above what is legal.
func (p *pod) cut(b bound, of measure, fixed, slack int64) {
	if b.amount < 0 || fixed+p.sum(of, target) <= b.amount {
		return
	}
	from, to := target, low
	if fixed+p.sum(of, low) > b.amount {
		from, to = low, least
	}
	over := p.sum(of, from) - p.sum(of, to)
	room := max(0, b.amount-fixed-p.sum(of, to)-slack)
	for _, c := range p.sized {
		if over > 0 && of(c, from(c)) > 0 {
			c.change(to(c)+mulDiv(from(c)-to(c), room, over), b.reason)
		}
	}
}

// raise makes requests the bound at least: each is raised by the same part of what users allow above it.
func (p *pod) raise(b bound) {
	lacking := b.amount - p.requests - p.sum(byRequest, target)
	room := p.sum(byRequest, high) - p.sum(byRequest, target)
	if lacking <= 0 || lacking > room {
		return
	}
	var seen, given int64
	for _, c := range p.sized {
		seen += c.high - c.target
		more := mulDiv(seen, lacking, room) - given
		given += more
		c.change(c.target+more, b.reason)
	}
}

// broken finds a bound that does not hold, since others do not let it.
func (p *pod) broken() (b bound, found bool) {
	requests, limits := p.requests+p.sum(byRequest, target), p.limits+p.sum(byLimit, target)
	for _, b := range slices.Concat(p.requestBounds(), p.leastRequests()) {
		if b.apply(requests) != requests {
			return b, true
		}
	}
	for _, b := range p.limitBounds() {
		if b.apply(limits) != limits {
			return b, true
		}
	}
	return bound{}, false
}

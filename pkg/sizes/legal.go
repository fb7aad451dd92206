// SPDX-License-Identifier: Apache-2.0

package sizes

// Resize is a change of a Pod's containers in place.
type Resize struct {
	// Containers are what they are to have, in the order of the Pod.
	Containers []Resources
	// Grows and Shrinks are true if something is to become more, and less.
	Grows, Shrinks bool
	// Restarts is true if a container restarts.
	Restarts bool
}

// Changes is true if there is something to do.
func (r *Resize) Changes() bool { return r.Grows || r.Shrinks }

// Refusal is why a Pod cannot be resized in place. It is empty if it can.
type Refusal string

// Why a Pod cannot be resized in place.
const (
	RefusedStatic  Refusal = "Static"
	RefusedNode    Refusal = "NodeCannotResize"
	RefusedClass   Refusal = "QoSClassWouldChange"
	RefusedNoSpace Refusal = "LargerThanNode"
	RefusedBefore  Refusal = "InfeasibleBefore"
)

// spare is by what part memory limits stay above the recent peak, in percent.
const spare = 120

// InPlace returns what to resize the Pod to, as an API server accepts it: the request is cut to a limit that stays; a limit is
// never taken away; a memory limit does not go below what the container has lately used, and some more; the class does not change.
func (p *Running) InPlace() (Resize, Refusal) { return p.inPlace(part{}) }

// part is what is done of a resize. The zero value is all of it.
type part struct {
	urgent    bool // only what is urgent
	noLess    bool // nothing becomes less
	noRestart bool // nothing restarts
}

func (p *Running) inPlace(do part) (Resize, Refusal) {
	r := p.toward(do)
	if refused := p.refused(r); refused != "" {
		return Resize{}, refused
	}
	return r, ""
}

// toward is the resize, be it accepted or not.
func (p *Running) toward(do part) Resize {
	r := Resize{Containers: make([]Resources, len(p.Containers))}
	for n := range p.Containers {
		c := &p.Containers[n]
		r.Containers[n] = c.only(do, c.inPlace(p.Class))
		r.compare(c, r.Containers[n])
	}
	return r
}

func (p *Running) refused(r Resize) Refusal {
	switch {
	case !r.Changes():
		return ""
	case p.Static:
		return RefusedStatic
	case p.Scheduled && !p.Resizable:
		return RefusedNode
	case p.changesClass(r):
		return RefusedClass
	case p.exceedsNode(r):
		return RefusedNoSpace
	case p.failedBefore(r):
		return RefusedBefore
	}
	return ""
}

// only leaves out what is not done. A limit that is added is less than none.
func (c *RunningContainer) only(do part, to Resources) Resources {
	for r := range resources {
		if do.urgent && !c.urgent(r) {
			to.Requests[r], to.Limits[r] = c.Requests[r], c.Limits[r]
		}
		if do.noLess {
			if to.Limits[r] = max(to.Limits[r], c.Limits[r]); c.Limits[r] < 0 {
				to.Limits[r] = None
			}
			to.Requests[r] = max(to.Requests[r], c.Requests[r])
		}
		if do.noRestart && c.Restarts[r] {
			to.Requests[r], to.Limits[r] = c.Requests[r], c.Limits[r]
		}
	}
	return to
}

// inPlace is what a container should have.
func (c *RunningContainer) inPlace(class Class) Resources {
	to := c.Resources
	for r := range resources {
		target, limit := c.wanted(r)
		if target < 0 {
			continue
		}
		if limit >= 0 {
			to.Limits[r] = limit
		}
		if r == Memory {
			to.Limits[r] = c.spared(to.Limits[r])
		}
		to.Requests[r] = target
		switch {
		case to.Limits[r] < 0:
		case class == Guaranteed:
			to.Requests[r] = to.Limits[r]
		default:
			to.Requests[r] = min(target, to.Limits[r])
		}
	}
	return to
}

// spared is a limit of memory that does not kill: one that becomes less, or is added, stays above the peak. Is that not known, none
// becomes less, nor is it added.
func (c *RunningContainer) spared(limit int64) int64 {
	has := c.Limits[Memory]
	switch {
	case limit < 0 || has >= 0 && limit >= has:
		return limit
	case c.Peak <= 0:
		return has
	case has < 0:
		return max(limit, mulDivUp(c.Peak, spare, 100))
	}
	return min(has, max(limit, mulDivUp(c.Peak, spare, 100)))
}

// compare notes what changes.
func (r *Resize) compare(c *RunningContainer, to Resources) {
	for k := range resources {
		added := c.Limits[k] < 0 && to.Limits[k] >= 0 // which is less than none
		for _, change := range [][2]int64{{c.Requests[k], to.Requests[k]}, {c.Limits[k], to.Limits[k]}} {
			r.Grows = r.Grows || change[1] > change[0]
			r.Shrinks = r.Shrinks || change[1] < change[0] || added
			r.Restarts = r.Restarts || change[1] != change[0] && c.Restarts[k]
		}
	}
}

// changesClass reports whether the Pod would be of another class.
func (p *Running) changesClass(r Resize) bool {
	guaranteed, nothing := true, true
	for _, c := range r.Containers {
		for k, limit := range c.Limits {
			guaranteed = guaranteed && limit > 0 && c.Requests[k] == limit
			nothing = nothing && limit <= 0 && c.Requests[k] <= 0
		}
	}
	return p.Class == BestEffort || nothing || guaranteed != (p.Class == Guaranteed)
}

// exceedsNode reports whether the Pod would request more than its node has for all Pods.
func (p *Running) exceedsNode(r Resize) bool {
	for k, sum := range p.together(r) {
		if node := p.Node[k]; p.Scheduled && node >= 0 && sum > node {
			return true
		}
	}
	return false
}

// failedBefore reports whether no less is wanted than what did not come to be. If that was less than the Pod has, it may still have
// more.
func (p *Running) failedBefore(r Resize) bool {
	sum, has := p.together(r), p.requested()
	return p.Infeasible != none() && sum.covers(p.Infeasible) && (!has.covers(p.Infeasible) || has.covers(sum))
}

// covers reports whether there is as much of each resource.
func (a Amounts) covers(b Amounts) bool { return a[CPU] >= b[CPU] && a[Memory] >= b[Memory] }

// together is what the Pod would request.
func (p *Running) together(r Resize) (sum Amounts) {
	for k := range sum {
		sum[k] = max(0, p.Fixed[k])
		for _, c := range r.Containers {
			sum[k] += max(0, c.Requests[k])
		}
	}
	return sum
}

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
func (p *Running) InPlace() (Resize, Refusal) {
	r := Resize{Containers: make([]Resources, len(p.Containers))}
	for n := range p.Containers {
		r.Containers[n] = p.Containers[n].inPlace(p.Class)
		r.compare(&p.Containers[n], r.Containers[n])
	}
	switch {
	case !r.Changes():
		return r, ""
	case p.Static:
		return Resize{}, RefusedStatic
	case p.Scheduled && !p.Resizable:
		return Resize{}, RefusedNode
	case p.changesClass(r):
		return Resize{}, RefusedClass
	case p.exceedsNode(r):
		return Resize{}, RefusedNoSpace
	case p.failedBefore(r):
		return Resize{}, RefusedBefore
	}
	return r, ""
}

// inPlace is what a container should have.
func (c *RunningContainer) inPlace(class Class) Resources {
	to := c.Resources
	for r, target := range c.Size.Target {
		if target < 0 {
			continue
		}
		if limit := c.Size.Limits[r]; limit >= 0 {
			to.Limits[r] = limit
		}
		if Resource(r) == Memory && to.Limits[r] < c.Limits[r] {
			to.Limits[r] = min(c.Limits[r], max(to.Limits[r], mulDivUp(max(0, c.Peak), spare, 100)))
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

// compare notes what changes.
func (r *Resize) compare(c *RunningContainer, to Resources) {
	for k := range resources {
		for _, change := range [][2]int64{{c.Requests[k], to.Requests[k]}, {c.Limits[k], to.Limits[k]}} {
			r.Grows = r.Grows || change[1] > change[0]
			r.Shrinks = r.Shrinks || change[1] < change[0]
			r.Restarts = r.Restarts || change[1] != change[0] && c.Restarts[k]
		}
	}
}

// changesClass reports whether the Pod would be of another class.
func (p *Running) changesClass(r Resize) bool {
	guaranteed := true
	for _, c := range r.Containers {
		for k, limit := range c.Limits {
			guaranteed = guaranteed && limit > 0 && c.Requests[k] == limit
		}
	}
	return p.Class == BestEffort || guaranteed != (p.Class == Guaranteed)
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

// failedBefore reports whether no less is wanted than what the node could not give.
func (p *Running) failedBefore(r Resize) bool {
	sum := p.together(r)
	return p.Infeasible != none() && sum[CPU] >= p.Infeasible[CPU] && sum[Memory] >= p.Infeasible[Memory]
}

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

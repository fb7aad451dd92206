// SPDX-License-Identifier: Apache-2.0

package sizes

// Budget is what may be done to the Pods of one cluster now.
type Budget struct {
	// MinReplicas is how many Pods have to be Ready before one is disrupted.
	MinReplicas int
	// MaxUnavailable is how many may be disrupted together: not Ready, or restarting for a resize, or evicted.
	MaxUnavailable int
	// Resizes and Evictions are how many may be sent, of all workloads.
	Resizes, Evictions int
}

// budget is what is left of it while a plan is made.
type budget struct {
	Budget
	ready, unavailable int
}

// newBudget counts what earlier plans have begun: a Pod that was evicted, or has a resize under way that restarts a container, is
// as good as not Ready, and so is one that is missing.
func newBudget(c *ClusterPods) *budget {
	left := &budget{Budget: c.Budget, unavailable: max(c.Gone, c.Replicas-len(c.Pods))}
	for n := range c.Pods {
		if c.Pods[n].disrupted() {
			left.unavailable++
		} else {
			left.ready++
		}
	}
	return left
}

// disrupted reports whether the Pod is not there for its users, or soon will not be.
func (p *Running) disrupted() bool { return !p.Ready || p.Evicted || p.restarting() }

// restarting reports whether a resize restarts a container, now or at any time: a deferred one may begin as soon as others leave.
func (p *Running) restarting() bool {
	if p.Resize == ResizeInfeasible || !p.Resizable {
		return false
	}
	for n := range p.Containers {
		c := &p.Containers[n]
		if c.Actual == (Resources{none(), none()}) {
			continue // it is not told
		}
		for r, restarts := range c.Restarts {
			if restarts && (c.Actual.Requests[r] != c.Requests[r] || c.Actual.Limits[r] != c.Limits[r]) {
				return true
			}
		}
	}
	return false
}

// disrupt takes a Pod from the budget. It returns false if that may not be disrupted. One that is not Ready costs nothing
// that it has not cost already.
func (b *budget) disrupt(p *Running) bool {
	switch {
	case p.disrupted():
		return true
	case b.ready < b.MinReplicas || b.unavailable >= b.MaxUnavailable:
		return false
	}
	b.ready, b.unavailable = b.ready-1, b.unavailable+1
	return true
}

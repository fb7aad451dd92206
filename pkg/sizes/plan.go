// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"cmp"
	"slices"
	"time"
)

// ClusterPods are the Pods of a workload in one cluster.
type ClusterPods struct {
	Cluster string
	// Pods are those that are not being deleted, and Replicas how many the workload should have.
	Pods     []Running
	Replicas int
	Budget
	Means
	// Silent is true while the cluster is not seen: its Pods are not changed, and none elsewhere shrinks.
	Silent bool
	// History is for how long there have been samples.
	History time.Duration

	// What follows is told by [Past.Observe]. Scaling and Admits may have been set before; then Scaling stays true, and what does not
	// admit, false.

	// Scaling is true if its replicas have just changed: then nothing shrinks, restarts or is evicted.
	Scaling bool
	// Settled is true once the cluster was observed twice. Until then nothing is evicted.
	Settled bool
	// Gone are Pods that were evicted and are not replaced yet. Evicting is true until those that replace them were Ready.
	Gone     int
	Evicting bool
	// Refused is when an eviction was last refused, if none was accepted since.
	Refused time.Time
}

// Way is how a Pod is changed.
type Way string

// The ways.
const (
	WayResize   Way = "Resize"
	WayEvict    Way = "Evict"
	WayWithdraw Way = "Withdraw" // resize it to what it has: what was asked for does not come to be
)

// Move is what to do to a Pod.
type Move struct {
	Cluster string
	Pod     *Running
	Way     Way
	Resize  Resize // not for an eviction
}

// PlanMoves returns what to do now: in the order of clusters, and in each first to the Pods whose resize does not come to be,
// then to those where it is urgent, and then to the others that should be changed. The same Pods give the same moves. A cluster
// that refuses evictions comes after others: it would keep the turn, and nobody would be evicted anywhere.
func PlanMoves(clusters []ClusterPods, policy Policy, now time.Time) []Move {
	clusters = slices.SortedFunc(slices.Values(clusters), func(a, b ClusterPods) int { return cmp.Compare(a.Cluster, b.Cluster) })
	turn := turnOf(clusters)
	slices.SortStableFunc(clusters, func(a, b ClusterPods) int { return a.Refused.Compare(b.Refused) })
	hold := slices.ContainsFunc(clusters, func(c ClusterPods) bool { return c.Silent })
	var moves []Move
	for n := range clusters {
		c := &clusters[n]
		p := planner{ClusterPods: c, policy: policy, now: now, left: newBudget(c), hold: hold}
		p.policy.Mode = policy.Mode.In(c.Means)
		p.mayEvict = !policy.OneByOne || turn == "" || turn == c.Cluster
		p.plan()
		moves = append(moves, p.moves...)
		if p.left.Evictions < c.Evictions {
			turn = c.Cluster
		}
	}
	return moves
}

// turnOf is the cluster that has begun to evict, and continues; empty if there is none.
func turnOf(clusters []ClusterPods) string {
	for _, c := range clusters {
		if (c.Gone > 0 || c.Evicting) && !c.Silent {
			return c.Cluster
		}
	}
	return ""
}

// planner makes the plan of one cluster.
type planner struct {
	*ClusterPods
	policy   Policy // of this cluster
	now      time.Time
	left     *budget
	mayEvict bool
	hold     bool // nothing shrinks, since not all of the fleet is seen
	moves    []Move
}

func (p *planner) plan() {
	if p.Silent || p.policy.Mode == ModeOff || p.policy.Mode == ModeInitial {
		return
	}
	pods := slices.SortedFunc(slices.Values(p.pointers()), func(a, b *Running) int { return cmp.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		if !pod.untouched() && pod.stuck(p.policy, p.now) && !p.evict(pod) {
			p.resize(pod, WayWithdraw, pod.withdrawn())
		}
	}
	candidates := Candidates(p.Pods, p.now)
	for _, urgent := range []bool{true, false} {
		for n := range candidates {
			if c := &candidates[n]; c.Urgent == urgent && !c.Pod.untouched() && !c.Pod.stuck(p.policy, p.now) {
				p.move(c)
			}
		}
	}
}

func (p *planner) pointers() []*Running {
	all := make([]*Running, len(p.Pods))
	for n := range p.Pods {
		all[n] = &p.Pods[n]
	}
	return all
}

// untouched reports whether the Pod goes anyway.
func (p *Running) untouched() bool { return p.Outdated || p.Evicted }

// stuck reports whether a resize does not come to be.
func (p *Running) stuck(policy Policy, now time.Time) bool {
	since := now.Sub(p.ResizeSince)
	switch p.Resize {
	case ResizeInfeasible:
		return true
	case ResizeDeferred:
		return since > policy.Deferred
	case ResizeInProgress, ResizeError:
		return since > policy.InProgress
	}
	return false
}

// underWay reports whether a resize is waited for: one that is more urgent waits only for what its node does not give.
func (c *Candidate) underWay() bool {
	switch c.Pod.Resize {
	case ResizeInProgress:
		return !c.Urgent
	case ResizeDeferred, ResizeInfeasible:
		return true
	}
	return false
}

// move resizes the Pod, or evicts it where that is not possible. For what is urgent, neither ActAfter nor the age of the Pod
// counts; nor is a Pod evicted for more than it requests, unless it was killed.
func (p *planner) move(c *Candidate) {
	due := c.due(p.now) && p.History >= p.policy.ActAfter
	do := part{urgent: !due, noLess: !due || p.Scaling || p.hold, noRestart: p.Scaling}
	r, refused := c.Pod.inPlace(do)
	inPlace := p.policy.Mode != ModeRecreate
	switch {
	case c.underWay(), p.now.Before(c.Pod.Alone):
	case inPlace && refused == "" && p.resize(c.Pod, WayResize, r):
	case inPlace && c.Urgent && p.hurry(c.Pod):
	case (!inPlace || refused != "") && (due || c.Pod.killed()):
		p.evict(c.Pod)
	}
}

// hurry does at least what is urgent, where the rest is in its way; rather without what restarts than not at all.
func (p *planner) hurry(pod *Running) bool {
	for _, noRestart := range []bool{p.Scaling, true} {
		r, refused := pod.inPlace(part{urgent: true, noLess: true, noRestart: noRestart})
		if refused == "" && p.resize(pod, WayResize, r) {
			return true
		}
	}
	return false
}

// withdrawn is a resize to what the containers have. A limit that was added stays, since none is ever taken away. There is
// none where that is not legal.
func (p *Running) withdrawn() Resize {
	r := Resize{Containers: make([]Resources, len(p.Containers))}
	for n := range p.Containers {
		c := &p.Containers[n]
		to := Resources{given(c.Actual.Requests, c.Requests), given(c.Actual.Limits, c.Limits)}
		for k, limit := range to.Limits {
			if limit >= 0 {
				to.Limits[k] = max(limit, to.Requests[k])
			}
		}
		r.Containers[n] = to
		r.compare(c, to)
	}
	if p.Static || !p.Resizable || p.changesClass(r) {
		return Resize{}
	}
	r.Restarts = false // they have it
	return r
}

// given are the amounts that there are, or else the others.
func given(a, or Amounts) Amounts {
	for r := range a {
		if a[r] < 0 {
			a[r] = or[r]
		}
	}
	return a
}

// resize returns false if nothing changes, or it may not be done now.
func (p *planner) resize(pod *Running, way Way, r Resize) bool {
	switch {
	case !r.Changes() || r.Shrinks && p.Scaling || p.left.Resizes <= 0:
		return false
	case r.Restarts && !p.left.disrupt(pod):
		return false
	}
	p.left.Resizes--
	p.moves = append(p.moves, Move{p.Cluster, pod, way, r})
	return true
}

// evict returns false if the Pod may not be evicted. A Pod without a node is not: it is resized, and then finds one.
func (p *planner) evict(pod *Running) bool {
	switch {
	case !p.policy.evicts(pod) || !p.mayEvict || !p.Admits || !p.Settled || p.Scaling:
		return false
	case !pod.Scheduled || pod.Static || p.now.Before(pod.NotBefore):
		return false
	case !pod.gains() || p.hold && pod.loses():
		return false
	case p.left.Evictions <= 0 || !p.left.disrupt(pod):
		return false
	}
	p.left.Evictions--
	p.moves = append(p.moves, Move{p.Cluster, pod, WayEvict, Resize{}})
	return true
}

// gains reports whether a new Pod would be nearer to what is wanted, by what is worth a change; or have more where more is.
// Else one eviction would follow another.
func (p *Running) gains() bool {
	now, then := *p, *p
	now.Containers, then.Containers = slices.Clone(p.Containers), slices.Clone(p.Containers)
	for n := range then.Containers {
		c := &then.Containers[n]
		c.Requests = given(c.Actual.Requests, c.Requests)
		now.Containers[n].Requests = c.Requests
		for r := range resources {
			wanted, _ := c.wanted(r)
			request, _ := c.born(r)
			if wanted > c.Requests[r] && request > c.Requests[r] {
				return true
			}
			if request >= 0 {
				c.Requests[r] = request
			}
		}
	}
	return candidateOf(&now).Difference-candidateOf(&then).Difference >= leastDifference
}

// loses reports whether a new Pod would have less of something.
func (p *Running) loses() bool {
	for n := range p.Containers {
		c := &p.Containers[n]
		for r := range resources {
			request, limit := c.born(r)
			if request >= 0 && request < c.Requests[r] || limit >= 0 && (c.Limits[r] < 0 || limit < c.Limits[r]) {
				return true
			}
		}
	}
	return false
}

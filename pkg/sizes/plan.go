// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"cmp"
	"slices"
	"time"
)

// Mode is how Pods come to their sizes.
type Mode int

// The modes.
const (
	// ModeOff and ModeInitial change no Pod that is there.
	ModeOff Mode = iota
	ModeInitial
	// ModeInPlace resizes Pods, ModeRecreate evicts them so that new ones are of another size, and ModeInPlaceOrRecreate
	// evicts those that cannot be resized.
	ModeInPlace
	ModeInPlaceOrRecreate
	ModeRecreate
)

// EvictOn is for what a Pod is evicted.
type EvictOn int

// For what a Pod is evicted.
const (
	EvictOnAny EvictOn = iota
	EvictOnOOM
	EvictOnNever
)

// Policy is what users allow to be done to Pods.
type Policy struct {
	Mode    Mode
	EvictOn EvictOn
	// OneByOne has one cluster of the fleet at a time evict.
	OneByOne bool
	// ActAfter is how much history there has to be before a Pod is touched. One that was killed for want of memory is
	// not waited for.
	ActAfter time.Duration
	// Deferred and InProgress are how long a resize may be in these states.
	Deferred, InProgress time.Duration
}

// ClusterPods are the Pods of a workload in one cluster.
type ClusterPods struct {
	Cluster string
	Pods    []Running
	Budget
	// Silent is true while the cluster is not seen: its Pods are not changed.
	Silent bool
	// Scaling is true if its replicas have just changed: then nothing shrinks and nothing is evicted.
	Scaling bool
	// Admits is true if a new Pod is known to get its size there: else to evict one changes nothing.
	Admits bool
	// Gone are Pods that were evicted and are not replaced yet.
	Gone int
	// History is for how long there have been samples.
	History time.Duration
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
// and then to the most urgent. The same Pods give the same moves.
func PlanMoves(clusters []ClusterPods, policy Policy, now time.Time) []Move {
	if policy.Mode == ModeOff || policy.Mode == ModeInitial {
		return nil
	}
	clusters = slices.SortedFunc(slices.Values(clusters), func(a, b ClusterPods) int { return cmp.Compare(a.Cluster, b.Cluster) })
	turn := turnOf(clusters)
	var moves []Move
	for n := range clusters {
		c := &clusters[n]
		if c.Silent {
			continue
		}
		p := planner{ClusterPods: c, policy: policy, now: now, left: newBudget(c.Budget, c.Pods, c.Gone)}
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
		if c.Gone > 0 && !c.Silent {
			return c.Cluster
		}
	}
	return ""
}

// planner makes the plan of one cluster.
type planner struct {
	*ClusterPods
	policy   Policy
	now      time.Time
	left     *budget
	mayEvict bool
	moves    []Move
}

func (p *planner) plan() {
	pods := slices.SortedFunc(slices.Values(p.pointers()), func(a, b *Running) int { return cmp.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		if p.stuck(pod) && !p.evict(pod) {
			p.resize(pod, WayWithdraw, pod.withdrawn())
		}
	}
	for _, c := range Candidates(p.Pods, p.now) {
		if c.QuickOOM || p.History >= p.policy.ActAfter {
			p.move(c.Pod)
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

// stuck reports whether a resize does not come to be.
func (p *planner) stuck(pod *Running) bool {
	since := p.now.Sub(pod.ResizeSince)
	switch pod.Resize {
	case ResizeInfeasible:
		return true
	case ResizeDeferred:
		return since > p.policy.Deferred
	case ResizeInProgress:
		return since > p.policy.InProgress
	}
	return false
}

// move resizes the Pod, or evicts it where that is not possible. A resize that is under way is waited for.
func (p *planner) move(pod *Running) {
	under := pod.Resize != ResizeNone && pod.Resize != ResizeError
	switch r, refused := pod.InPlace(); {
	case under:
	case p.policy.Mode == ModeRecreate || refused != "":
		p.evict(pod)
	default:
		p.resize(pod, WayResize, r)
	}
}

// withdrawn is a resize to what the containers have. A limit that was added stays, since none is ever taken away.
func (p *Running) withdrawn() Resize {
	r := Resize{Containers: make([]Resources, len(p.Containers))}
	for n := range p.Containers {
		c := &p.Containers[n]
		r.Containers[n] = Resources{given(c.Actual.Requests, c.Requests), given(c.Actual.Limits, c.Limits)}
		r.compare(c, r.Containers[n])
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

func (p *planner) resize(pod *Running, way Way, r Resize) {
	switch {
	case !r.Changes() || r.Shrinks && p.Scaling || p.left.Resizes <= 0:
		return
	case r.Restarts && !p.left.disrupt(pod):
		return
	}
	p.left.Resizes--
	p.moves = append(p.moves, Move{p.Cluster, pod, way, r})
}

// evict returns false if the Pod may not be evicted. A Pod without a node is not: it is resized, and then finds one.
func (p *planner) evict(pod *Running) bool {
	switch {
	case p.policy.Mode == ModeInPlace || p.policy.EvictOn == EvictOnNever || p.policy.EvictOn == EvictOnOOM && !pod.quickOOM():
		return false
	case !p.mayEvict || !p.Admits || p.Scaling || !pod.Scheduled || pod.Static:
		return false
	case p.left.Evictions <= 0 || !p.left.disrupt(pod):
		return false
	}
	p.left.Evictions--
	p.moves = append(p.moves, Move{p.Cluster, pod, WayEvict, Resize{}})
	return true
}

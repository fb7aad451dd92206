// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	members "github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// cluster is a member.
type cluster struct {
	dice
	name string
	// bare: of some workloads new Pods do not get their size there.
	bare       bool
	born       int
	runs       [][]*place                           // by workload
	entries    [][]fleetscalev1alpha1.SizedWorkload // by namespace
	sizes      []given                              // by workload
	froze      time.Time                            // zero: it is not frozen
	seenFrozen time.Time                            // when that is noticed
	thaws      time.Time                            // when that ends
	thawed     time.Time                            // when it last did
	ooms       int
	account    // of what was done there
}

// given is what new Pods get, and what they got before: some API servers learn of it later.
type given struct {
	now, before pods.Resources
	since       time.Time
	there       bool
	changes     int
}

// late is by how much.
const late = 8 * time.Second

// at is what a Pod is created with.
func (g given) at(now time.Time) (requests pods.Resources, sized bool) {
	switch {
	case !g.there:
		return template, false
	case now.Sub(g.since) >= late:
		return g.now, true
	}
	return g.before, g.before != template
}

func (c *cluster) isBare(w *workload) bool { return c.bare && w.n%10 == 3 }

// settle has what was to happen by now be there.
func (c *cluster) settle(w *workload, now time.Time) []*place {
	for _, p := range c.runs[w.n] {
		if p.pod == nil && !now.Before(p.next) {
			p.pod = c.bear(w, p.next)
			p.pod.replaces = true
		}
		if p.pod != nil {
			p.pod.settle(now)
		}
	}
	return c.runs[w.n]
}

func (c *cluster) bear(w *workload, at time.Time) *pod {
	c.born++
	requests, sized := c.sizes[w.n].at(at)
	if c.isBare(w) {
		requests, sized = template, false
	}
	return &pod{name: fmt.Sprintf("%s-%s-%06d", w.name, c.name, c.born), uid: uidOf(100+int(c.name[0]), c.born), created: at,
		ready: at.Add(10*time.Second + c.span(time.Minute)), sized: sized, asked: requests, has: requests}
}

// view is what one leader sees of a cluster, and does there. Whatever else it calls is a panic.
type view struct {
	members.Cluster
	*leader
	*cluster
}

// What no leader asks for here.
func (v view) VPACheckpoints(context.Context, string) ([]unstructured.Unstructured, error) {
	panic("checkpoints are asked for")
}
func (v view) RemovePodSizes(context.Context, string, types.UID, string) error {
	panic("sizes are taken away")
}

var noAnswer = fleet.Silencef(fleet.ReasonTimeout, "no answer")

func (v view) Facts() assignment.ClusterFacts { return assignment.ClusterFacts{Name: v.name} }
func (v view) Joining() bool                  { return false }
func (v view) ClockOffset() time.Duration     { return 0 }
func (v view) Prices() registration.Prices    { return registration.Prices{} }
func (v view) Sizer() sizing.Sizer            { return v }

func (v view) Silence() *fleet.Silence {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.silence(time.Now())
}

// silence is what is known: that a member is frozen is noticed a moment later.
func (c *cluster) silence(now time.Time) *fleet.Silence {
	if c.froze.IsZero() || now.Before(c.seenFrozen) {
		return nil
	}
	return noAnswer
}

func (v view) LimitRanges(context.Context, string) capacity.LimitRanges {
	return capacity.LimitRanges{}
}

func (v view) LargestNodes(context.Context, *corev1.PodTemplateSpec) capacity.LargestNodes {
	node := pods.Resources{MilliCPU: 64_000, Memory: 256 << 30}
	return capacity.LargestNodes{Known: true, Nodes: []pods.Resources{node}, Allocatable: func(string) pods.Resources { return node }}
}

func (v view) QuotaLeft(context.Context, string, *corev1.PodTemplateSpec, []pods.SizedPod) capacity.QuotaLeft {
	return capacity.QuotaLeft{}
}

func (v view) Autoscalers(context.Context, string) members.Autoscalers {
	return members.Autoscalers{Known: true}
}
func (v view) VPAs(context.Context, string) sizing.VPAs { return sizing.VPAs{Known: true} }

func (v view) Support(context.Context) sizing.Support {
	return sizing.Support{Known: true, Serves: true, Resizes: true, Admits: true, Silence: v.Silence()}
}

func (v view) PodSizes(_ context.Context, namespace string) sizing.PodSizes {
	v.mu.Lock()
	defer v.mu.Unlock()
	return sizing.PodSizes{Known: true, Silence: v.silence(time.Now()), Workloads: v.entries[v.namespaceOf(namespace)], Generation: 1}
}

func (v view) SizedPods(_ context.Context, _ string, selector labels.Selector) pods.SizedListing {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	app, _ := selector.RequiresExactMatch("app")
	l := pods.SizedListing{Known: true, Silent: v.silence(now), AsOf: now}
	for _, p := range v.settle(v.byName[app], now) {
		if p.pod != nil {
			l.Pods = append(l.Pods, p.pod.listed(now))
		}
	}
	slices.SortFunc(l.Pods, func(a, b pods.SizedPod) int { return compare(a.Name, b.Name) })
	return l
}

// uses is what Pods of a workload use, each measured a moment ago.
func (c *cluster) uses(w *workload, now time.Time) hubmetrics.ClusterUses {
	u := hubmetrics.ClusterUses{Cluster: c.name, Outcome: hubmetrics.Answered}
	if !c.froze.IsZero() {
		return hubmetrics.ClusterUses{Cluster: c.name, Outcome: hubmetrics.Silent, Silence: noAnswer}
	}
	for _, p := range c.settle(w, now) {
		if p.pod == nil || now.Before(p.pod.ready) {
			continue
		}
		used := w.uses(now, c.dice)
		if p.pod.has.Memory < used.Memory && c.one(200) { // there are no limits, so it is its node that has no more
			p.pod.killed, p.pod.kills, c.ooms = now.Add(time.Second).Truncate(time.Second), p.pod.kills+1, c.ooms+1
		}
		u.Pods = append(u.Pods, hubmetrics.PodUses{Name: p.pod.name, Measured: now.Truncate(15 * time.Second), Window: 15 * time.Second,
			Containers: []hubmetrics.ContainerUse{{Name: container, MilliCPU: used.MilliCPU, Memory: used.Memory}}})
	}
	slices.SortFunc(u.Pods, func(a, b hubmetrics.PodUses) int { return compare(a.Name, b.Name) })
	return u
}

// write does something in the cluster for a leader. A frozen one does not answer, and may do it all the same.
func (v view) write(do func(now time.Time) error) error {
	return v.call(func() error {
		now := time.Now()
		switch {
		case v.silence(now) != nil:
			return noAnswer
		case !v.froze.IsZero():
			if v.one(2) {
				_ = do(now)
			}
			return context.DeadlineExceeded
		}
		return do(now)
	})
}

func (v view) SetPodSizes(_ context.Context, namespace string, _ types.UID, entry fleetscalev1alpha1.SizedWorkload) error {
	return v.write(func(now time.Time) error {
		w, n := v.byName[entry.Name], v.namespaceOf(namespace)
		others := slices.DeleteFunc(slices.Clone(v.entries[n]), func(e fleetscalev1alpha1.SizedWorkload) bool { return e.Name == entry.Name })
		v.entries[n] = append(others, entry)
		c := entry.Containers[0]
		requests := sizes.NewContainerOf(c.Name, c.Requests, c.Limits).Requests
		before, _ := v.sizes[w.n].at(now)
		v.sizes[w.n] = given{now: pods.Resources{MilliCPU: requests[sizes.CPU], Memory: requests[sizes.Memory]}, before: before, since: now,
			there: true, changes: v.sizes[w.n].changes + 1}
		return nil
	})
}

// find returns the place of a Pod, if it is still there.
func (v view) find(namespace string, ref sizing.PodRef, now time.Time) (*workload, *place) {
	for _, w := range v.workloads[v.namespaceOf(namespace)*each:] {
		if w.namespace != namespace {
			break
		}
		if len(ref.Name) < len(w.name) || ref.Name[:len(w.name)] != w.name {
			continue
		}
		for _, p := range v.settle(w, now) {
			if p.pod != nil && p.pod.uid == ref.UID {
				return w, p
			}
		}
	}
	return nil, nil
}

func (v view) Resize(_ context.Context, namespace string, ref sizing.PodRef, containers []sizing.ContainerResources) error {
	return v.write(func(now time.Time) error {
		w, p := v.find(namespace, ref, now)
		if p == nil {
			return &sizing.Refused{Why: sizing.RefusedGone, Message: "there is no such Pod"}
		}
		to := p.pod.asked
		if cpu := containers[0].Requests.MilliCPU; cpu != pods.None {
			to.MilliCPU = cpu
		}
		if memory := containers[0].Requests.Memory; memory != pods.None {
			to.Memory = memory
		}
		v.judgeResize(v.cluster, w, p, now)
		p.pod.resize(to, now, v.dice)
		return nil
	})
}

func (v view) Evict(_ context.Context, namespace string, ref sizing.PodRef) error {
	return v.write(func(now time.Time) error {
		w, p := v.find(namespace, ref, now)
		if p == nil {
			return &sizing.Refused{Why: sizing.RefusedGone, Message: "there is no such Pod"}
		}
		if v.protected(w, p, now) {
			return &sizing.Refused{Why: sizing.RefusedBudget, Message: "it would violate the PodDisruptionBudget"}
		}
		v.judgeEviction(v.cluster, w, p, now)
		p.advice, _ = v.sizes[w.n].at(now.Add(late))
		p.pod, p.next, p.evicted, p.by, p.at = nil, now.Add(2*time.Second+v.span(20*time.Second)), p.evicted+1, v.leader, now
		return nil
	})
}

// protected reports whether a PodDisruptionBudget keeps a Pod that is Ready.
func (c *cluster) protected(w *workload, p *place, now time.Time) bool {
	ready, all := c.ready(w, now), len(c.runs[w.n])
	return p.pod.isReady(now) && (w.refuses || w.guarded && ready < all)
}

func (c *cluster) ready(w *workload, now time.Time) (n int) {
	for _, p := range c.settle(w, now) {
		if p.pod != nil && p.pod.isReady(now) {
			n++
		}
	}
	return n
}

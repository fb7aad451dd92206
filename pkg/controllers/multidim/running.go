// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// podMemory is what is remembered of one Pod, by our own clock. A restart forgets it: then its peak has to be seen again before
// a limit of its memory becomes less.
type podMemory struct {
	resize     sizes.ResizeState
	since      time.Time // when it was seen to be in that state
	seen       time.Time // the last time
	resized    time.Time // when it was last seen before it had got another size; zero: not since it was first seen
	actual     []pods.Container
	containers map[string]*containerMemory
}

// containerMemory is what is remembered of what one container uses.
type containerMemory struct {
	measured time.Time // the last sample, by the member's clock
	pressure [2]goals.Pressure
	peak     peak
}

// peak is the most of one day or two.
type peak struct {
	day          time.Time // when the last one began
	last, before int64
}

const day = 24 * time.Hour

func (p *peak) add(amount int64, now time.Time) {
	if p.day.IsZero() || now.Sub(p.day) >= 2*day {
		*p = peak{day: now}
	} else if now.Sub(p.day) >= day {
		*p = peak{day: p.day.Add(day), before: p.last}
	}
	p.last = max(p.last, amount)
}

func (p *peak) most() int64 { return max(p.last, p.before) }

// podMemories are those of a cluster's Pods, by UID: only of Pods that are there.
type podMemories map[types.UID]*podMemory

// see takes note of what the Pods are and use, and returns what is remembered of them. Advised are the sizes that they should have.
func (m podMemories) see(c *cluster, advised []sizes.Size, now time.Time) podMemories {
	next := make(podMemories, len(c.pods.Pods))
	for i := range c.pods.Pods {
		p := &c.pods.Pods[i]
		if p.UID == "" {
			continue
		}
		k := m[p.UID]
		if k == nil {
			k = &podMemory{since: now, resize: stateOf(p), seen: now, actual: actualOf(p), containers: map[string]*containerMemory{}}
		}
		if state := stateOf(p); k.resize != state {
			k.resize, k.since = state, now
		}
		if has := actualOf(p); !slices.Equal(has, k.actual) {
			k.actual, k.resized = has, k.seen // so that a kill that came of the new size counts
		}
		k.seen = now
		k.use(p, usesOf(c.uses.Pods, p.Name), advised, now)
		next[p.UID] = k
	}
	return next
}

// actualOf is what the containers of the Pod have, as far as it is told.
func actualOf(p *pods.SizedPod) []pods.Container {
	if p.Actual != nil {
		return p.Actual
	}
	return p.Containers
}

// usesOf are in order of their names.
func usesOf(all []hubmetrics.PodUses, name string) *hubmetrics.PodUses {
	at, found := slices.BinarySearchFunc(all, name, func(u hubmetrics.PodUses, name string) int { return cmp.Compare(u.Name, name) })
	if !found {
		return nil
	}
	return &all[at]
}

// use takes note of a sample, if it is a new one.
func (k *podMemory) use(p *pods.SizedPod, uses *hubmetrics.PodUses, advised []sizes.Size, now time.Time) {
	if uses == nil {
		return
	}
	for _, c := range p.Containers {
		at := slices.IndexFunc(uses.Containers, func(u hubmetrics.ContainerUse) bool { return u.Name == c.Name })
		size := slices.IndexFunc(advised, func(s sizes.Size) bool { return s.Name == c.Name })
		if at < 0 || size < 0 {
			continue
		}
		known := k.containers[c.Name]
		if known == nil {
			known = &containerMemory{}
			k.containers[c.Name] = known
		}
		if !uses.Measured.IsZero() && known.measured.Equal(uses.Measured) {
			continue
		}
		known.measured = uses.Measured
		used, requests := sizes.Amounts{uses.Containers[at].MilliCPU, uses.Containers[at].Memory}, ofPods(c.Requests)
		for r := range recommendation.ResourceNames {
			if used[r] >= 0 && requests[r] > 0 {
				known.pressure[r] = known.pressure[r].Next(used[r], requests[r], advised[size].Target[r])
			}
		}
		known.peak.add(used[sizes.Memory], now)
	}
}

// runningOf is a Pod as a plan sees it. What is remembered may be nil.
func (in *situation) runningOf(c *cluster, p *pods.SizedPod, all []sizes.Size, born []sizes.NewContainer, k *podMemory) sizes.Running {
	r := sizes.Running{
		UID: string(p.UID), Name: p.Name, Containers: make([]sizes.RunningContainer, 0, len(p.Containers)), Class: classOf(p.Class),
		Started: c.ours(p.Started), Ready: p.Ready.Status == corev1.ConditionTrue, Scheduled: p.Node != "", Node: recommendation.NoAmounts(),
		Fixed: in.template.fixed().Requests, Static: p.Static, Resizable: p.Resizable, Sized: p.SizedBy != "",
		Resize: stateOf(p), Infeasible: recommendation.NoAmounts(),
	}
	if p.Node != "" && c.nodes.Allocatable != nil {
		r.Node = ofPods(c.nodes.Allocatable(p.Node))
	}
	if k != nil {
		r.ResizeSince = k.since
		if k.resized.After(r.Started) {
			r.Started = k.resized
		}
	}
	has := actualOf(p)
	for i, container := range p.Containers {
		rc := sizes.RunningContainer{
			Name: container.Name, Size: sizes.Size{Advice: recommendation.Nothing(), Limits: recommendation.NoAmounts()},
			Resources: sizes.Resources{Requests: ofPods(container.Requests), Limits: ofPods(container.Limits)},
			Actual:    sizes.Resources{Requests: ofPods(has[i].Requests), Limits: ofPods(has[i].Limits)},
			New:       sizes.Resources{Requests: recommendation.NoAmounts(), Limits: recommendation.NoAmounts()},
			Restarts:  [2]bool{container.Restarts.CPU, container.Restarts.Memory},
		}
		if n := slices.IndexFunc(all, func(s sizes.Size) bool { return s.Name == container.Name }); n >= 0 {
			rc.Size = all[n]
		}
		if n := slices.IndexFunc(born, func(b sizes.NewContainer) bool { return b.Name == container.Name }); n >= 0 {
			rc.New = born[n].Resources
		}
		if k != nil {
			k.tell(&rc)
		}
		rc.OOM, rc.QuickOOM = c.killed(p, &rc, r.Started, in.Now)
		r.Containers = append(r.Containers, rc)
	}
	return r
}

// tell adds what is remembered.
func (k *podMemory) tell(rc *sizes.RunningContainer) {
	known := k.containers[rc.Name]
	if known == nil {
		return
	}
	rc.Peak = known.peak.most()
	for r := range recommendation.ResourceNames {
		rc.Pressed[r] = known.pressure[r].Lasts()
	}
}

const (
	quick  = 10 * time.Minute // after which a container that is killed was not too small from its beginning
	recent = 10 * time.Minute // for how long a quick kill counts
)

// killed reports whether a container was killed for want of memory since the Pod had its size, and whether that was soon after it had
// begun, and not long ago.
func (c *cluster) killed(p *pods.SizedPod, of *sizes.RunningContainer, sized, now time.Time) (oom, soon bool) {
	for _, kill := range p.OOMKills {
		if kill.Container != of.Name || kill.FinishedAt.IsZero() || kill.Supposed && !full(of) {
			continue
		}
		finished := c.ours(kill.FinishedAt)
		if !finished.After(sized) {
			continue
		}
		oom = true
		soon = soon || !kill.StartedAt.IsZero() && kill.FinishedAt.Sub(kill.StartedAt) < quick && now.Sub(finished) < recent
	}
	return oom, soon
}

// full reports whether a container has used nearly all the memory that it may: so a kill that its node cannot explain was for want of
// it.
func full(of *sizes.RunningContainer) bool {
	limit := of.Limits[sizes.Memory]
	return limit >= 0 && of.Peak >= limit-limit/20
}

// ours is a time of the cluster's clock by ours; zero stays.
func (c *cluster) ours(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-c.ClockOffset())
}

func classOf(class corev1.PodQOSClass) sizes.Class {
	switch class {
	case corev1.PodQOSGuaranteed:
		return sizes.Guaranteed
	case corev1.PodQOSBestEffort:
		return sizes.BestEffort
	}
	return sizes.Burstable
}

// stateOf is what became of the last resize. One that its node has not seen yet is under way.
func stateOf(p *pods.SizedPod) sizes.ResizeState {
	if !p.Resize.Observed && p.Node != "" {
		return sizes.ResizeInProgress
	}
	switch p.Resize.State {
	case pods.ResizeInProgress:
		return sizes.ResizeInProgress
	case pods.ResizeDeferred:
		return sizes.ResizeDeferred
	case pods.ResizeInfeasible:
		return sizes.ResizeInfeasible
	case pods.ResizeError:
		return sizes.ResizeError
	}
	return sizes.ResizeNone
}

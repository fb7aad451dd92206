// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// unavailable is how many percent of a cluster's Pods may be disrupted together.
const unavailable = 25

var policy = sizes.Policy{Mode: sizes.ModeInPlaceOrRecreate, Deferred: 5 * time.Minute, InProgress: time.Hour}

// remember has the load have been for a while as it is when the run begins.
func (f *fleet) remember() {
	each := f.demand[0] / float64(len(f.pods))
	for c := range f.clusters {
		for n := range f.template {
			var instance sizes.Instance
			for d := -f.history; d < 0; d += time.Minute {
				instance.Add(&f.uses[n][c], sizes.Sample{Amounts: sizes.Amounts{int64(each * f.split[n]), sizes.None}, At: f.now.Add(d)})
			}
		}
	}
}

// feed adds the samples of the tick that is known.
func (f *fleet) feed() {
	was := f.now.Add(-late * tick)
	for _, p := range f.pods {
		if _, measured := p.usedAt(f.tick-late, was); !measured {
			continue
		}
		for n := range p.instances {
			used := p.used[n][(f.tick-late)%(late+1)]
			p.instances[n].Add(&f.uses[n][p.cluster], sizes.Sample{Amounts: sizes.Amounts{used, sizes.None}, At: f.now, Measured: was})
		}
	}
}

// advise sets what Pods should have: those that reserve what they may use, and those that need not.
func (f *fleet) advise() {
	template := sizes.Template{Guaranteed: f.guaranteed}
	options := sizes.Options{Percentile: [2]int{f.percentile, 90}, Margin: 15, PodMinimum: sizes.Amounts{25, 250 << 20},
		Containers: len(f.template)}
	for n, c := range f.template {
		parts := make([]sizes.Part, len(f.clusters))
		for i, name := range f.clusters {
			parts[i] = sizes.Part{Cluster: name, Use: &f.uses[n][i]}
		}
		f.last[n] = sizes.AdviseFleet(parts, options, f.last[n])
		advice := f.last[n]
		advice.Target[sizes.Memory] = sizes.None
		container := sizes.Container{Name: c.Name, Advice: advice,
			Resources:  sizes.Resources{Requests: stated(c.Requests), Limits: stated(c.Limits)},
			MinAllowed: sizes.Amounts{f.minAllowed, sizes.None}, MaxAllowed: sizes.Amounts{f.maxAllowed, sizes.None},
			LimitsFollow: [2]bool{f.follow}, GoalFloor: unknown, GoalLimit: unknown}
		if !f.follow {
			container.GoalLimit = stated(f.shares[n].Limit)
		}
		template.Containers = append(template.Containers, container)
	}
	f.least = sizes.CapAll(template, f.room)
	if !f.unfloored {
		for n := range template.Containers {
			template.Containers[n].GoalFloor = stated(f.shares[n].Request)
		}
	}
	f.reserved = sizes.CapAll(template, f.room)
	if entry := sizes.NewPods(template, []sizes.Room{f.room}, f.entry); !slices.Equal(entry, f.entry) {
		f.entry, f.written, f.version = entry, f.now, f.version+1
	}
}

// assign gives each Pod the size that it should have.
func (f *fleet) assign() {
	var advised int64
	for _, s := range f.least {
		advised += max(0, s.Target[sizes.CPU])
	}
	should := f.least
	if goals.Reserves(int32(len(f.pods)), f.minimum, goals.Pressure{}) {
		should = f.reserved
	}
	for _, p := range f.pods {
		used, measured := p.usedAt(f.tick-late, f.now.Add(-late*tick))
		if measured && !f.unpressed {
			p.pressure = p.pressure.Next(used, p.requested(), advised)
		}
		pressed := goals.Reserves(0, 0, p.pressure)
		for n := range p.Containers {
			c := &p.Containers[n]
			c.Size, c.New, c.Pressed = should[n], sizes.Resources{Requests: unknown, Limits: unknown}, [2]bool{pressed}
			if at := slices.IndexFunc(f.entry, func(e sizes.NewContainer) bool { return e.Name == c.Name }); at >= 0 {
				c.New = f.entry[at].Resources
			}
		}
	}
}

// resize does what is planned.
func (f *fleet) resize() {
	clusters := make([]sizes.ClusterPods, len(f.clusters))
	for n, name := range f.clusters {
		clusters[n] = sizes.ClusterPods{Cluster: name, Means: sizes.Means{InPlace: true, Admits: true}, History: f.now.Sub(start)}
	}
	byName := map[string]int{}
	for i, p := range f.pods {
		c, is := &clusters[p.cluster], p.Running
		if p.resizedAt.After(is.Started) {
			is.Started = p.resizedAt // else it were resized whenever advice wavers between two buckets
		}
		c.Pods = append(c.Pods, is)
		c.Replicas++
		byName[p.Name] = i
	}
	for n := range clusters {
		c := &clusters[n]
		c.Budget = sizes.Budget{MinReplicas: 1, MaxUnavailable: max(1, c.Replicas*unavailable/100), Resizes: f.resizes, Evictions: 1}
		f.past[n].Observe(c, sizes.Admission{Sizes: f.entry, Written: f.written, Version: fmt.Sprint(f.version)}, policy, f.now)
		c.Scaling = f.now.Sub(f.scaledAt[n]) < time.Minute && !f.impatient
	}
	for _, move := range sizes.PlanMoves(clusters, policy, f.now) {
		i := byName[move.Pod.Name]
		p := f.pods[i]
		if (move.Resize.Shrinks || move.Way == sizes.WayEvict) && f.now.Sub(f.scaledAt[p.cluster]) < time.Minute {
			f.hasty++
		}
		f.past[p.cluster].Sent(move)
		if move.Way == sizes.WayEvict {
			f.evict(i, clusters[p.cluster].MaxUnavailable)
			continue
		}
		f.change(p, move)
	}
}

// evict has a new Pod take the place of one.
func (f *fleet) evict(i, most int) {
	cluster := f.pods[i].cluster
	f.kept = append(f.kept, f.pods[i].resizes)
	f.pods[i] = f.bear(cluster, 0)
	f.evictions, f.evictedAt = f.evictions+1, min(f.evictedAt, f.tick)
	for _, p := range f.pods {
		if p.cluster == cluster && !p.Ready {
			most--
		}
	}
	if most < 0 {
		f.greedy++
	}
}

// change resizes a Pod. Its kubelet may not do it: not now, or never.
func (f *fleet) change(p *pod, move sizes.Move) {
	for n, has := range move.Resize.Containers {
		p.Containers[n].Resources = has
		if move.Way == sizes.WayResize {
			f.sized(n, has)
		}
	}
	p.Resize, p.ResizeSince, p.resizedAt = sizes.ResizeInProgress, f.now, f.now.Add(f.lag)
	if f.refuses && move.Way == sizes.WayResize {
		switch f.chance.IntN(8) {
		case 0:
			p.Resize = sizes.ResizeInfeasible
		case 1:
			p.Resize, p.resizedAt = sizes.ResizeDeferred, f.now.Add(4*policy.Deferred)
		}
	}
	p.resizes = append(p.resizes, f.tick)
	if f.live {
		p.requests = live(p.Containers)
	}
	f.moves++
}

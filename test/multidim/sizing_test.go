// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// unavailable is so much that it never bounds: nothing restarts, and nothing is evicted.
const unavailable = 1000

var policy = sizes.Policy{Mode: sizes.ModeInPlace, Deferred: 5 * time.Minute, InProgress: time.Hour}

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
}

// assign gives each Pod the size that it should have.
func (f *fleet) assign() {
	var advised int64
	for _, s := range f.least {
		advised += max(0, s.Target[sizes.CPU])
	}
	for _, p := range f.pods {
		used, measured := p.usedAt(f.tick-late, f.now.Add(-late*tick))
		if measured && !f.unpressed {
			p.pressure = p.pressure.Next(used, p.requested(), advised)
		}
		should := f.least
		if goals.Reserves(int32(len(f.pods)), f.minimum, p.pressure) {
			should = f.reserved
		}
		for n := range p.Containers {
			p.Containers[n].Size = should[n]
		}
	}
}

// resize does what is planned.
func (f *fleet) resize() {
	clusters := make([]sizes.ClusterPods, len(f.clusters))
	for n, name := range f.clusters {
		clusters[n] = sizes.ClusterPods{Cluster: name, Means: sizes.Means{InPlace: true}, History: f.now.Sub(start),
			Scaling: f.now.Sub(f.scaledAt[n]) < time.Minute && !f.impatient,
			Budget:  sizes.Budget{MaxUnavailable: unavailable, Resizes: f.resizes}}
	}
	byName := map[string]*pod{}
	for _, p := range f.pods {
		c, is := &clusters[p.cluster], p.Running
		if p.resizedAt.After(is.Started) {
			is.Started = p.resizedAt // else it were resized whenever advice wavers between two buckets
		}
		c.Pods = append(c.Pods, is)
		byName[p.Name] = p
	}
	for _, move := range sizes.PlanMoves(clusters, policy, f.now) {
		p := byName[move.Pod.Name]
		if move.Resize.Shrinks && f.now.Sub(f.scaledAt[p.cluster]) < time.Minute {
			f.hasty++
		}
		for n, has := range move.Resize.Containers {
			p.Containers[n].Resources = has
			f.sized(n, has)
		}
		p.Resize, p.ResizeSince, p.resizedAt = sizes.ResizeInProgress, f.now, f.now.Add(f.lag)
		p.resizes = append(p.resizes, f.tick)
		if f.live {
			p.requests = live(p.Containers)
		}
		f.moves++
	}
}

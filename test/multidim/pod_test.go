// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// pod is a Pod of the workload.
type pod struct {
	sizes.Running
	cluster   int
	readyAt   time.Time
	resizedAt time.Time // when the resize under way is done
	requests  *replicas.Requests
	instances []sizes.Instance
	used      [][late + 1]int64 // by each container in each of the last ticks, in thousandths of a core
	pressure  goals.Pressure
	resizes   []int // the ticks in which it was resized
}

// requested is what the Pod has reserved.
func (p *pod) requested() (milli int64) {
	for n := range p.Containers {
		milli += p.Containers[n].Actual.Requests[sizes.CPU]
	}
	return milli
}

// usedAt is what the Pod used in a tick, if it was Ready then.
func (p *pod) usedAt(at int, was time.Time) (milli int64, measured bool) {
	for n := range p.used {
		milli += p.used[n][at%(late+1)]
	}
	return milli, !was.Before(p.readyAt)
}

// live are the requests as a spec that was resized says them.
func live(containers []sizes.RunningContainer) *replicas.Requests {
	spec := corev1.PodSpec{}
	for n := range containers {
		spec.Containers = append(spec.Containers, corev1.Container{Name: containers[n].Name, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(containers[n].Requests[sizes.CPU], resource.DecimalSI)}}})
	}
	return replicas.RequestsOf(&spec)
}

// stated is None for what a template does not state.
func stated(a goals.Amounts) sizes.Amounts {
	of := func(v int64) int64 {
		if v == 0 {
			return sizes.None
		}
		return v
	}
	return sizes.Amounts{of(a.CPU), of(a.Memory)}
}

// bear makes a Pod of the size that new ones have.
func (f *fleet) bear(cluster int, age time.Duration) *pod {
	f.born++
	p := &pod{cluster: cluster, readyAt: f.now.Add(f.birth), instances: make([]sizes.Instance, len(f.template)),
		used: make([][late + 1]int64, len(f.template))}
	p.Running = sizes.Running{Name: fmt.Sprintf("web-%d", f.born), Class: sizes.Burstable, Started: f.now.Add(-age),
		UID: fmt.Sprintf("web-%d", f.born), Scheduled: true, Resizable: true, Node: f.room.Node, Fixed: unknown, Infeasible: unknown}
	if age > 0 {
		p.readyAt = f.now.Add(f.birth - age)
	}
	if f.guaranteed {
		p.Class = sizes.Guaranteed
	}
	for n, c := range f.template {
		has := sizes.Resources{Requests: stated(c.Requests), Limits: stated(c.Limits)}
		if at := slices.IndexFunc(f.entry, func(e sizes.NewContainer) bool { return e.Name == c.Name }); at >= 0 {
			p.Sized, has.Requests[sizes.CPU] = true, f.entry[at].Requests[sizes.CPU]
			if limit := f.entry[at].Limits[sizes.CPU]; limit >= 0 {
				has.Limits[sizes.CPU] = limit
			}
			f.sized(n, has)
		}
		p.Containers = append(p.Containers, sizes.RunningContainer{Name: c.Name, Resources: has, Actual: has})
	}
	p.requests = f.requests
	if f.live {
		p.requests = live(p.Containers)
	}
	return p
}

var unknown = sizes.Amounts{sizes.None, sizes.None}

// settle completes resizes.
func (f *fleet) settle() {
	for _, p := range f.pods {
		if p.Resize == sizes.ResizeNone || p.Resize == sizes.ResizeInfeasible || f.now.Before(p.resizedAt) {
			continue
		}
		p.Resize = sizes.ResizeNone
		for n := range p.Containers {
			p.Containers[n].Actual = p.Containers[n].Resources
		}
	}
}

// work has Ready Pods share what is asked for, and notes what they use.
func (f *fleet) work() {
	all := 0.0
	for i, p := range f.pods {
		if p.Ready = !f.now.Before(p.readyAt); p.Ready {
			all += f.part(i)
		}
	}
	demand, total, reserved := f.demand[f.tick], 0.0, 0.0
	wishes := f.wishes[:0]
	for i, p := range f.pods {
		reserved += float64(p.requested())
		wish := 0.0
		if p.Ready {
			wish = f.limited(p, demand*f.part(i)/all)
		}
		wishes = append(wishes, wish)
		total += wish
	}
	f.wishes = wishes
	if full := reserved + f.spare; f.spare >= 0 && total > full {
		for i := range wishes {
			wishes[i] *= full / total
		}
		total = full
		f.censored()
	}
	for i, p := range f.pods {
		for n := range p.used {
			p.used[n][f.tick%(late+1)] = 0
		}
		if p.Ready {
			f.spend(p, wishes[i])
		}
	}
	f.account(demand, total, reserved)
}

// limited is what the Pod can use of a wish.
func (f *fleet) limited(p *pod, wish float64) (use float64) {
	for n := range p.Containers {
		part := wish * f.split[n]
		if limit := p.Containers[n].Actual.Limits[sizes.CPU]; limit >= 0 && part > float64(limit) {
			part = float64(limit)
			if f.guaranteed || f.follow {
				f.censored()
			}
		}
		use += part
	}
	return use
}

// spend divides what the Pod uses among its containers.
func (f *fleet) spend(p *pod, use float64) {
	rest := use
	for n := len(p.used) - 1; n >= 0; n-- {
		part := use * f.split[n]
		if limit := p.Containers[n].Actual.Limits[sizes.CPU]; limit >= 0 {
			part = min(part, float64(limit))
		}
		if n == 0 {
			part = rest
		}
		rest -= part
		p.used[n][f.tick%(late+1)] = int64(math.Round(part))
	}
	f.over += max(0, use-float64(p.requested())) * tick.Hours() / 1000
}

// part is how much a Pod gets of what is asked for, beside others: nine to eleven tenths, by chance, and the same in every run.
func (f *fleet) part(i int) float64 {
	x := f.seed + uint64(f.tick)*0x9e3779b97f4a7c15 + uint64(i)*0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return 0.9 + 0.2*float64((x^x>>31)>>11)/(1<<53)
}

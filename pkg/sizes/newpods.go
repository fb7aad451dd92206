// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// NewContainer is what a container of new Pods is created with. A resource of which nothing is said is None: it is as the Pod
// has it.
type NewContainer struct {
	Name string
	Resources
}

// NewPods returns what the new Pods of a workload are to be created with in a cluster. The template has the floors of all
// goals, also at the minimum of replicas: who is created beyond that is created for load. Rooms are those of [CapAny].
//
// What stands there stays, if it is as legal, of the same containers and resources, and less than 5 % away from all that would be
// written: so what wavers is not written again and again.
func NewPods(t Template, rooms []Room, standing []NewContainer) []NewContainer {
	wanted := newOf(CapAny(t, rooms))
	if near(standing, wanted) && slices.Equal(newOf(CapAny(t.advising(standing), rooms)), standing) {
		return standing
	}
	return wanted
}

// newOf is in the order of the template.
func newOf(all []Size) (containers []NewContainer) {
	for _, s := range all {
		if s.Target != none() {
			containers = append(containers, NewContainer{s.Name, Resources{s.Target, s.Limits}})
		}
	}
	return containers
}

// near reports whether the same is sized, and all requests differ by less than a twentieth of what stands there. Limits follow
// from requests.
func near(standing, wanted []NewContainer) bool {
	return slices.EqualFunc(standing, wanted, func(s, w NewContainer) bool {
		for r, is := range s.Requests {
			if by := max(w.Requests[r]-is, is-w.Requests[r]); by > 0 && (is < 0 || w.Requests[r] < 0 || 20*by >= is) {
				return false
			}
		}
		return s.Name == w.Name
	})
}

// advising is the template with what stands as its advice.
func (t Template) advising(standing []NewContainer) Template {
	t.Containers = slices.Clone(t.Containers)
	for n := range t.Containers {
		c := &t.Containers[n]
		if at := slices.IndexFunc(standing, func(s NewContainer) bool { return s.Name == c.Name }); at >= 0 {
			c.Advice.Target = standing[at].Requests
		}
	}
	return t
}

// NewContainerOf reads what is written of a container. What is no quantity, or less than none, is None, and so never stays.
func NewContainerOf(name string, requests, limits map[string]string) NewContainer {
	return NewContainer{name, Resources{amountsIn(requests), amountsIn(limits)}}
}

// Quantities are the requests and limits as they are written: CPU in thousandths, memory in bytes, and both as short as can be.
func (c NewContainer) Quantities() (requests, limits map[string]string) {
	return quantities(c.Requests), quantities(c.Limits)
}

var (
	keys   = [resources]string{CPU: "cpu", Memory: "memory"}
	scales = [resources]resource.Scale{CPU: resource.Milli, Memory: 0}
)

func amountsIn(written map[string]string) Amounts {
	a := none()
	for r, key := range keys {
		if q, err := resource.ParseQuantity(written[key]); err == nil && q.Sign() >= 0 {
			a[r] = most
			if q.CmpInt64(most) < 0 {
				a[r] = min(most, q.ScaledValue(scales[r]))
			}
		}
	}
	return a
}

func quantities(a Amounts) map[string]string {
	var written map[string]string
	for r, amount := range a {
		if amount < 0 {
			continue
		}
		if written == nil {
			written = map[string]string{}
		}
		q := resource.NewMilliQuantity(amount, resource.DecimalSI)
		if Resource(r) == Memory {
			q = resource.NewQuantity(amount, resource.BinarySI)
		}
		written[keys[r]] = q.String()
	}
	return written
}

// created reports whether the Pod was created so: it bears the mark, and requests what was written, or its own limit if that is less.
func (p *Running) created(so []NewContainer) bool {
	for _, want := range so {
		n := slices.IndexFunc(p.Containers, func(c RunningContainer) bool { return c.Name == want.Name })
		if n < 0 {
			return false
		}
		has := &p.Containers[n]
		for r, request := range want.Requests {
			limit := want.Limits[r]
			if limit >= 0 && has.Limits[r] != limit {
				return false
			}
			if has.Limits[r] >= 0 {
				request = min(request, has.Limits[r])
			}
			if request >= 0 && has.Requests[r] != request {
				return false
			}
		}
	}
	return p.Sized
}

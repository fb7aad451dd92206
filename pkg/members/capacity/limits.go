// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// LimitRanges are what all LimitRanges of a namespace say together of CPU and memory.
type LimitRanges struct {
	// Container bounds each container, and Pod all of a Pod together.
	Container, Pod LimitRange
	// DefaultRequests and DefaultLimits are those of a container that sets none. Of several, those of the LimitRange whose
	// name comes first count: Kubernetes itself takes any.
	DefaultRequests, DefaultLimits pods.Resources
	// Known is false when the others say nothing.
	Known bool
	// Unknown is why they are not Known; nil if they are.
	Unknown *fleet.Silence
	// AsOf is the time at which it was so; zero if not Known.
	AsOf time.Time
}

// LimitRange bounds requests and limits. What is not bounded is [pods.None]. Bounds that are not whole are rounded such that
// what they allow is allowed.
type LimitRange struct {
	Min, Max pods.Resources
	// MaxRatio is the largest proportion of a limit to its request, in thousandths.
	MaxRatio Ratios
}

// Ratios are thousandths, of each resource.
type Ratios struct{ CPU, Memory int64 }

// LimitRanges answers for one namespace of a member. They are watched from the first question on, which waits for the first
// list, at most until ctx ends.
func (e *Estimator) LimitRanges(ctx context.Context, m mirror.Member, namespace string) LimitRanges {
	a := e.members.limits.Ask(ctx, m, namespace)
	if !a.Known {
		return LimitRanges{Unknown: because("limitranges", a.Silence)}
	}
	all := LimitRanges{
		Container: unbounded(), Pod: unbounded(), DefaultRequests: noResources(), DefaultLimits: noResources(), Known: true, AsOf: a.AsOf,
	}
	for _, r := range a.Objects {
		for i := range r.items {
			all.add(&r.items[i])
		}
	}
	return all
}

func (l *LimitRanges) add(item *corev1.LimitRangeItem) {
	switch item.Type {
	case corev1.LimitTypeContainer:
		l.Container.add(item)
		setDefaults(&l.DefaultRequests, item.DefaultRequest)
		setDefaults(&l.DefaultLimits, item.Default)
	case corev1.LimitTypePod:
		l.Pod.add(item)
	}
}

// add has the stricter bounds count.
func (l *LimitRange) add(item *corev1.LimitRangeItem) {
	for _, r := range []struct {
		name               corev1.ResourceName
		scale              resource.Scale
		least, most, ratio *int64
	}{
		{corev1.ResourceCPU, resource.Milli, &l.Min.MilliCPU, &l.Max.MilliCPU, &l.MaxRatio.CPU},
		{corev1.ResourceMemory, 0, &l.Min.Memory, &l.Max.Memory, &l.MaxRatio.Memory},
	} {
		if q, bounded := item.Min[r.name]; bounded {
			*r.least = max(*r.least, q.ScaledValue(r.scale))
		}
		if q, bounded := item.Max[r.name]; bounded {
			lower(r.most, q, r.scale)
		}
		if q, bounded := item.MaxLimitRequestRatio[r.name]; bounded {
			lower(r.ratio, q, resource.Milli)
		}
	}
}

// mostBound is more than any machine has, of cores and of bytes: who writes more means that nothing is bounded.
const mostBound = 1 << 50

// lower lowers a bound to a quantity, rounded down.
func lower(bound *int64, q resource.Quantity, scale resource.Scale) {
	if q.CmpInt64(mostBound) > 0 {
		return
	}
	value := q.ScaledValue(scale) // rounded up
	if q.Cmp(*resource.NewScaledQuantity(value, scale)) < 0 {
		value--
	}
	if *bound < 0 || value < *bound {
		*bound = value
	}
}

// setDefaults sets what is not set yet.
func setDefaults(r *pods.Resources, list corev1.ResourceList) {
	if q, set := list[corev1.ResourceCPU]; set && r.MilliCPU == pods.None {
		r.MilliCPU = q.MilliValue()
	}
	if q, set := list[corev1.ResourceMemory]; set && r.Memory == pods.None {
		r.Memory = q.Value()
	}
}

func unbounded() LimitRange {
	return LimitRange{Min: noResources(), Max: noResources(), MaxRatio: Ratios{pods.None, pods.None}}
}

func noResources() pods.Resources { return pods.Resources{MilliCPU: pods.None, Memory: pods.None} }

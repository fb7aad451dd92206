// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// QuotaLeft is what the ResourceQuotas of a namespace leave to all Pods of a workload together: what they allow, less what
// others use. What is not bounded is [pods.None], and so is what is bounded by more than any machine has.
//
// What is used is what the quotas' status says, which may be late. What is made, or grows, the cluster adds at once. What
// ends, or shrinks, it takes off after seconds, at worst minutes; until then others seem to use that, so that too little is
// left. The quotas and the Pods are watched each by itself: where a Pod is seen before the quotas are that were charged for
// it, others seem to use less by that much, and too much is left. So it is for Pods that are still there after the time that
// they were given to end, or that want a size which their node refuses. It is never more than the quotas allow.
type QuotaLeft struct {
	Requests, Limits pods.Resources
	// Known is false when the others say nothing.
	Known bool
	// Unknown is why they are not Known; nil if they are.
	Unknown *fleet.Silence
	// AsOf is the time at which it was so; zero if not Known.
	AsOf time.Time
}

// QuotaLeft answers for Pods of a template in one namespace of a member, of which ours are there. By the template it is known
// which quotas are charged, so it should have the requests of LimitRanges, and those that are wanted. The first question
// waits for the first list of quotas, at most until ctx ends.
func (e *Estimator) QuotaLeft(ctx context.Context, m mirror.Member, namespace string, template *corev1.PodTemplateSpec,
	ours []pods.SizedPod) QuotaLeft {
	a := e.members.quotas.Ask(ctx, m, namespace)
	if !a.Known {
		return QuotaLeft{Unknown: because("resourcequotas", a.Silence)}
	}
	left := fit.QuotaLeft(quotasOf(a), template, charged(ours))
	return QuotaLeft{
		Requests: bounds(left, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory),
		Limits:   bounds(left, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory),
		Known:    true, AsOf: a.AsOf,
	}
}

func bounds(left corev1.ResourceList, cpu, memory corev1.ResourceName) pods.Resources {
	r := noResources()
	if q, bounded := left[cpu]; bounded {
		lower(&r.MilliCPU, q, resource.Milli)
	}
	if q, bounded := left[memory]; bounded {
		lower(&r.Memory, q, 0)
	}
	return r
}

// charged yields the containers of Pods that quotas are charged for, those that have not ended, and how many have such. Pods
// that are alike stand together, as a rule.
func charged(ours []pods.SizedPod) iter.Seq2[[]corev1.Container, int64] {
	return func(yield func([]corev1.Container, int64) bool) {
		for rest := ours; len(rest) > 0; {
			alike, n := rest[0].Containers, int64(0)
			for len(rest) > 0 && slices.Equal(rest[0].Containers, alike) {
				if phase := rest[0].Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
					n++
				}
				rest = rest[1:]
			}
			if !yield(containersOf(alike), n) {
				return
			}
		}
	}
}

func containersOf(sized []pods.Container) []corev1.Container {
	all := make([]corev1.Container, len(sized))
	for i, c := range sized {
		all[i].Resources.Requests, all[i].Resources.Limits = listOf(c.Requests), listOf(c.Limits)
	}
	return all
}

func listOf(r pods.Resources) corev1.ResourceList {
	list := corev1.ResourceList{}
	if r.MilliCPU > 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.MilliCPU, resource.DecimalSI)
	}
	if r.Memory > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(r.Memory, resource.BinarySI)
	}
	return list
}

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// scaledToZero reports whether the workload is at zero because we put it there, and not because a person switched it off.
func (q *Question) scaledToZero() bool {
	c := find(q.Status.Conditions, autoscalingv2.ScaledToZero)
	return c != nil && c.Status == corev1.ConditionTrue
}

// endsZero reports whether a metric of the spec can be read without Pods, and so end zero replicas.
func (q *Question) endsZero() bool {
	return slices.ContainsFunc(q.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool { return !ofPods(m.Type) })
}

// mayLeaveZero reports whether zero replicas are ours to end: we scaled there, and either a metric can say when to, or the spec
// no longer allows zero.
func (q *Question) mayLeaveZero() bool {
	return q.scaledToZero() && (q.minReplicas() != 0 || q.endsZero())
}

// lift raises what should run to the minimum, if the workload is at zero and no longer may be; rates do not hold there.
func (v *view) lift(d *Decision, desired int32) int32 {
	least := v.minReplicas()
	if v.Scale.Replicas != 0 || !v.scaledToZero() || desired >= least {
		return desired
	}
	if d.Explanation.Reason == "" {
		d.Explanation.Reason = belowMin
	}
	return least
}

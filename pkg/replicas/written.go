// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scaled completes a decision with Rescale whose replicas were written.
func (d Decision) Scaled(now time.Time) Decision {
	d = d.fork()
	d.set(now, autoscalingv2.AbleToScale, corev1.ConditionTrue, ReasonSucceededRescale,
		fmt.Sprintf("the HPA controller was able to update the target scale to %d", d.Replicas))
	d.Events = append(d.Events, Event{corev1.EventTypeNormal, ReasonSuccessfulRescale,
		fmt.Sprintf("New size: %d; reason: %s", d.Replicas, d.Explanation.Reason)})
	d.State = d.State.scaled(d.plan.behavior, d.Replicas-d.plan.current, now)
	d.sayZero(now)
	d.report(d.plan.current, d.Replicas, d.plan.metrics)
	d.Status.LastScaleTime = &metav1.Time{Time: now}
	return d
}

// Refused completes a decision with Rescale whose replicas could not be written.
func (d Decision) Refused(now time.Time, err error) Decision {
	d = d.fork()
	d.warn(ReasonFailedRescale, fmt.Sprintf("New size: %d; reason: %s; error: %v", d.Replicas, d.Explanation.Reason, err))
	d.set(now, autoscalingv2.AbleToScale, corev1.ConditionFalse, ReasonFailedUpdateScale,
		fmt.Sprintf("the HPA controller was unable to update the target scale: %v", err))
	d.report(d.plan.current, d.plan.before, d.plan.metrics)
	d.Err = fmt.Errorf("scaling %s: %w", d.plan.description, err)
	return d
}

// Observed completes a decision with Rescale whose replicas are only reported.
func (d Decision) Observed() Decision {
	d.report(d.plan.current, d.Replicas, d.plan.metrics)
	return d
}

// fork lets the decision be completed without a change to the one that it comes from.
func (d Decision) fork() Decision {
	d.Status.Conditions = slices.Clone(d.Status.Conditions)
	d.Events = slices.Clone(d.Events)
	return d
}

// sayZero says after each change, which is never from zero to zero, whether zero replicas are ours to end.
func (d *Decision) sayZero(now time.Time) {
	if d.plan.zeroIsOurs && d.Replicas == 0 {
		d.set(now, autoscalingv2.ScaledToZero, corev1.ConditionTrue, ReasonScaledToZero, "the HPA controller scaled the workload to zero")
		return
	}
	d.set(now, autoscalingv2.ScaledToZero, corev1.ConditionFalse, ReasonNotScaledToZero,
		"the HPA controller did not scale the workload to zero")
}

// scaled returns the state after a change of the replicas. Without policies nobody asks for it.
func (s State) scaled(b *autoscalingv2.HorizontalPodAutoscalerBehavior, by int32, now time.Time) State {
	switch {
	case b == nil:
	case by > 0:
		s.ScaleUps = changed(s.ScaleUps, by, longest(b.ScaleUp), now)
	default:
		s.ScaleDowns = changed(s.ScaleDowns, -by, longest(b.ScaleDown), now)
	}
	return s
}

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type conditionType = autoscalingv2.HorizontalPodAutoscalerConditionType

// set says a condition again. Conditions stay in the order in which they first came, and keep the time of the last change
// of their status.
func (d *Decision) set(now time.Time, is conditionType, status corev1.ConditionStatus, reason, message string) {
	c := find(d.Status.Conditions, is)
	if c == nil {
		d.Status.Conditions = append(d.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: is})
		c = &d.Status.Conditions[len(d.Status.Conditions)-1]
	}
	if c.Status != status {
		c.LastTransitionTime = metav1.NewTime(now)
	}
	c.Status, c.Reason, c.Message = status, reason, message
}

// find returns the condition of that type, or nil.
func find(conditions []autoscalingv2.HorizontalPodAutoscalerCondition, is conditionType) *autoscalingv2.HorizontalPodAutoscalerCondition {
	i := slices.IndexFunc(conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == is })
	if i < 0 {
		return nil
	}
	return &conditions[i]
}

func boolStatus(b bool) corev1.ConditionStatus {
	if b {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// report says what runs, what should, and by which metrics. It keeps the time of the last rescale.
func (d *Decision) report(current, desired int32, metrics []autoscalingv2.MetricStatus) {
	generation := d.plan.generation
	d.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
		ObservedGeneration: &generation,
		LastScaleTime:      d.Status.LastScaleTime,
		CurrentReplicas:    current,
		DesiredReplicas:    desired,
		CurrentMetrics:     metrics,
		Conditions:         d.Status.Conditions,
	}
}

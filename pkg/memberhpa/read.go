// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// tooManyReplicas is the reason of ScalingLimited where more replicas are called for than may be.
const tooManyReplicas = "TooManyReplicas"

// Read returns what the status of a cluster's HorizontalPodAutoscaler says. The spec is the one that was rendered for the
// cluster: its metrics and targets count. clockOffset is the cluster's time minus ours; the times of the result are ours.
// Steady, which takes two observations, is left to the caller.
func Read(stored *autoscalingv2.HorizontalPodAutoscaler, spec *autoscalingv2.HorizontalPodAutoscalerSpec,
	clockOffset time.Duration) assignment.Autoscaler {
	_, active := holds(stored, autoscalingv2.ScalingActive)
	limit, limited := holds(stored, autoscalingv2.ScalingLimited)
	read := assignment.Autoscaler{
		Desired:         stored.Status.DesiredReplicas,
		ScalingActive:   active,
		TooManyReplicas: limited && limit == tooManyReplicas,
		Ratios:          ratios(spec.Metrics, stored.Status.CurrentMetrics),
	}
	if last := stored.Status.LastScaleTime; last != nil {
		read.LastScale = new(last.Add(-clockOffset))
	}
	return read
}

// holds reports whether a condition is true, and its reason.
func holds(stored *autoscalingv2.HorizontalPodAutoscaler, condition autoscalingv2.HorizontalPodAutoscalerConditionType) (reason string,
	is bool) {
	for _, c := range stored.Status.Conditions {
		if c.Type == condition {
			return c.Reason, c.Status == corev1.ConditionTrue
		}
	}
	return "", false
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// summarize is the status for those who have one line.
func summarize(spec *v1alpha1.FederatedHPASpec, d *decision, s *v1alpha1.FederatedHPAStatus) *v1alpha1.FederatedHPASummary {
	return &v1alpha1.FederatedHPASummary{
		Targets:  summary.Brief(summary.Targets(spec.Metrics, s.CurrentMetrics), summary.LongestTargets),
		Clusters: summary.Clusters(s.Clusters),
		State:    stateOf(d, s),
	}
}

// stateOf is what the autoscaler is doing.
func stateOf(d *decision, s *v1alpha1.FederatedHPAStatus) v1alpha1.FederatedHPAState {
	active := summary.Condition(s, autoscalingv2.ScalingActive)
	switch {
	case summary.Condition(s, autoscalingv2.AbleToScale).Status == corev1.ConditionFalse:
		return v1alpha1.StateFailing
	case active.Reason == replicas.ReasonScalingDisabled && s.CurrentReplicas == 0:
		return v1alpha1.StatePaused
	case active.Status == corev1.ConditionFalse && active.Reason != replicas.ReasonScalingDisabled && !d.Rescale:
		return v1alpha1.StateFailing
	case summary.Condition(s, v1alpha1.Propagated).Status == corev1.ConditionFalse:
		return v1alpha1.StateFailing
	case d.Explanation.Held:
		return v1alpha1.StateHeld
	case summary.Condition(s, autoscalingv2.ScalingLimited).Status == corev1.ConditionTrue:
		return v1alpha1.StateLimited
	default:
		return v1alpha1.StateActive
	}
}

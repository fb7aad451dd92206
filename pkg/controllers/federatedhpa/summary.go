// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// longestTargets is what the API holds of the targets, in bytes.
const longestTargets = 1024

// summary is the status for those who have one line.
func summary(spec *v1alpha1.FederatedHPASpec, d *decision, s *v1alpha1.FederatedHPAStatus) *v1alpha1.FederatedHPASummary {
	return &v1alpha1.FederatedHPASummary{
		Targets:  brief(targets(spec.Metrics, s.CurrentMetrics), longestTargets),
		Clusters: visible(s.Clusters),
		State:    stateOf(d, s),
	}
}

// stateOf is what the autoscaler is doing.
func stateOf(d *decision, s *v1alpha1.FederatedHPAStatus) v1alpha1.FederatedHPAState {
	active := conditionOf(s, autoscalingv2.ScalingActive)
	switch {
	case conditionOf(s, autoscalingv2.AbleToScale).Status == corev1.ConditionFalse:
		return v1alpha1.StateFailing
	case active.Reason == replicas.ReasonScalingDisabled && s.CurrentReplicas == 0:
		return v1alpha1.StatePaused
	case active.Status == corev1.ConditionFalse && active.Reason != replicas.ReasonScalingDisabled && !d.Rescale:
		return v1alpha1.StateFailing
	case d.Explanation.Held:
		return v1alpha1.StateHeld
	case conditionOf(s, autoscalingv2.ScalingLimited).Status == corev1.ConditionTrue:
		return v1alpha1.StateLimited
	default:
		return v1alpha1.StateActive
	}
}

// conditionOf returns the condition of that type, or an empty one.
func conditionOf(s *v1alpha1.FederatedHPAStatus, kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return autoscalingv2.HorizontalPodAutoscalerCondition{}
}

// visible counts the clusters that are seen, of those that take part.
func visible(clusters []v1alpha1.ClusterStatus) string {
	seen, all := 0, 0
	for i := range clusters {
		switch clusters[i].State {
		case v1alpha1.ClusterExcluded:
		case v1alpha1.ClusterUnreachable:
			all++
		default:
			seen, all = seen+1, all+1
		}
	}
	return fmt.Sprintf("%d/%d", seen, all)
}

// targets are the metrics as current/goal, as kubectl shows those of a HorizontalPodAutoscaler.
func targets(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	var all []string
	for i := range specs {
		name, goal := goalOf(&specs[i])
		current := "<unknown>"
		if i < len(statuses) {
			current = currentOf(&statuses[i], goal, current)
		}
		all = append(all, fmt.Sprintf("%s: %s/%s", name, current, worded(goal)))
	}
	return strings.Join(all, ", ")
}

// goalOf is the name of a metric and what it should be.
func goalOf(spec *autoscalingv2.MetricSpec) (string, autoscalingv2.MetricTarget) {
	switch {
	case spec.Resource != nil:
		return string(spec.Resource.Name), spec.Resource.Target
	case spec.ContainerResource != nil:
		return fmt.Sprintf("%s of %s", spec.ContainerResource.Name, spec.ContainerResource.Container), spec.ContainerResource.Target
	case spec.Pods != nil:
		return spec.Pods.Metric.Name, spec.Pods.Target
	case spec.Object != nil:
		return spec.Object.Metric.Name, spec.Object.Target
	case spec.External != nil:
		return spec.External.Metric.Name, spec.External.Target
	}
	return string(spec.Type), autoscalingv2.MetricTarget{}
}

func worded(goal autoscalingv2.MetricTarget) string {
	switch {
	case goal.AverageValue != nil:
		return goal.AverageValue.String() + " (avg)"
	case goal.AverageUtilization != nil:
		return fmt.Sprintf("%d%%", *goal.AverageUtilization)
	case goal.Value != nil:
		return goal.Value.String()
	}
	return "<unset>"
}

// currentOf is what a metric is, in the unit of its goal.
func currentOf(status *autoscalingv2.MetricStatus, goal autoscalingv2.MetricTarget, unknown string) string {
	v := autoscalingv2.MetricValueStatus{}
	switch {
	case status.Resource != nil:
		v = status.Resource.Current
	case status.ContainerResource != nil:
		v = status.ContainerResource.Current
	case status.Pods != nil:
		v = status.Pods.Current
	case status.Object != nil:
		v = status.Object.Current
	case status.External != nil:
		v = status.External.Current
	}
	switch {
	case goal.AverageValue == nil && goal.AverageUtilization != nil && v.AverageUtilization != nil:
		return fmt.Sprintf("%d%%", *v.AverageUtilization)
	case v.AverageValue != nil:
		return v.AverageValue.String()
	case v.Value != nil:
		return v.Value.String()
	}
	return unknown
}

// SPDX-License-Identifier: Apache-2.0

// Package summary puts the status of a FederatedHPA into few words, for both of its modes and for a MultidimPodAutoscaler, of
// package controllers/multidim.
package summary

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// What the API holds of a text, in bytes.
const (
	LongestCondition = 32768
	LongestMessage   = 4096
	LongestReason    = 1024
	LongestTargets   = 1024
	LongestNote      = 1024 // of an Event
)

// MostClusters are so many that a status holds.
const MostClusters = 1000

// Condition returns the condition of that type, or an empty one.
func Condition(s *v1alpha1.FederatedHPAStatus,
	kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return autoscalingv2.HorizontalPodAutoscalerCondition{}
}

// Clusters counts the clusters that are seen, of those that take part.
func Clusters(clusters []v1alpha1.ClusterStatus) string {
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

// Targets are the metrics as current/goal, as kubectl shows those of a HorizontalPodAutoscaler.
func Targets(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
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

// currentOf returns what a metric is, in the unit of its goal.
func currentOf(status *autoscalingv2.MetricStatus, goal autoscalingv2.MetricTarget, unknown string) string {
	v := v1alpha1.CurrentOf(status)
	switch {
	case v == nil:
	case goal.AverageValue == nil && goal.AverageUtilization != nil && v.AverageUtilization != nil:
		return fmt.Sprintf("%d%%", *v.AverageUtilization)
	case v.AverageValue != nil:
		return v.AverageValue.String()
	case v.Value != nil:
		return v.Value.String()
	}
	return unknown
}

// Brief is a text of so many bytes at most, cut between characters, in which only lines and columns are left of what is not printable:
// it may be a member's, and goes into a status or an Event.
func Brief(text string, longest int) string {
	text = fleet.PrintableLines(text)
	if len(text) <= longest {
		return text
	}
	end := longest - len("...")
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + "..."
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/claims"
)

// repeatedMetrics refuses a second metric that differs from an earlier one in
// the goal alone: only one of the goals would ever count.
func repeatedMetrics(metrics []autoscalingv2.MetricSpec, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	seen := map[string]int{}
	for i, metric := range metrics {
		name := identity(metric)
		first, again := seen[name]
		if name == "" {
			continue
		}
		if !again {
			seen[name] = i
			continue
		}
		fault := field.Duplicate(path.Index(i), name)
		fault.Detail = fmt.Sprintf("is the same metric as %s: leave one of them out", path.Index(first))
		faults = append(faults, fault.WithOrigin(ruleMetricRepeated))
	}
	return faults
}

// identity names what a metric measures and how its goal is stated, but not the
// goal: cpu by averageValue is another metric than cpu by averageUtilization.
// It is "" for a metric whose source is missing.
func identity(metric autoscalingv2.MetricSpec) string {
	var parts []string
	var goal autoscalingv2.MetricTarget
	switch m := metric; {
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		object := m.Object.DescribedObject
		parts, goal = []string{measured(m.Object.Metric), "of", claims.Group(object), object.Kind, object.Name}, m.Object.Target
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		parts, goal = []string{measured(m.External.Metric)}, m.External.Target
	case m.Type == autoscalingv2.PodsMetricSourceType && m.Pods != nil:
		parts, goal = []string{measured(m.Pods.Metric)}, m.Pods.Target
	case m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil:
		parts, goal = []string{string(m.Resource.Name)}, m.Resource.Target
	case m.Type == autoscalingv2.ContainerResourceMetricSourceType && m.ContainerResource != nil:
		parts, goal = []string{string(m.ContainerResource.Name), "of container", m.ContainerResource.Container}, m.ContainerResource.Target
	default:
		return ""
	}
	return fmt.Sprintf("%s metric %s by %s", metric.Type, strings.Join(parts, " "), goalField(metric.Type, goal))
}

// measured is a metric's name with its selector in one spelling.
func measured(metric autoscalingv2.MetricIdentifier) string {
	if metric.Selector == nil {
		return metric.Name
	}
	selector, err := metav1.LabelSelectorAsSelector(metric.Selector)
	if err != nil || selector.Empty() {
		return metric.Name
	}
	return metric.Name + "{" + selector.String() + "}"
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"fmt"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// setting is a field of the spec that a replay can set.
type setting struct {
	Field string `json:"field"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// settable are the bounds and, by the mode, the targets or how bounds are split.
func settable(spec *v1alpha1.FederatedHPASpec) []setting {
	all := []setting{
		{"spec.minReplicas", "minReplicas", number(ptr.Deref(spec.MinReplicas, 1))},
		{"spec.maxReplicas", "maxReplicas", number(spec.MaxReplicas)},
	}
	if spec.FederatedHPAAssignment == nil {
		return append(all, targetsOf(spec.Metrics)...)
	}
	all = append(all, splitBy(spec.FederatedHPAAssignment)...)
	return all[:min(len(all), mostSettings)]
}

// settableSizes are the percentile and the margin of containers that the spec has an entry for.
func settableSizes(spec *v1alpha1.MultidimPodAutoscalerSpec) []setting {
	all := []setting{}
	for i := range spec.Constraints.Container {
		c := &spec.Constraints.Container[i]
		if c.Mode == v1alpha1.ContainerOff || c.TargetPercentile.CPU == nil || c.TargetPercentile.Memory == nil || c.MarginPercent == nil {
			continue
		}
		field, whose := fmt.Sprintf("spec.constraints.container[%d].", i), " of "+fleet.Printable(c.Name, mostName)
		switch {
		case c.Name == v1alpha1.AnyContainer && len(spec.Constraints.Container) == 1:
			whose = ""
		case c.Name == v1alpha1.AnyContainer:
			whose = " of others"
		}
		all = append(all,
			setting{field + "targetPercentile.cpu", "percentile of cpu" + whose, number(*c.TargetPercentile.CPU)},
			setting{field + "targetPercentile.memory", "percentile of memory" + whose, number(*c.TargetPercentile.Memory)},
			setting{field + "marginPercent", "margin" + whose + ", in percent", number(*c.MarginPercent)})
	}
	return all[:min(len(all), mostSettings)]
}

func number(n int32) string { return strconv.Itoa(int(n)) }

// mostName bounds, in characters, the name of a cluster.
const mostName = 63

// splitBy are the policy, and the weights or priorities that it goes by, with the thresholds that are set.
func splitBy(a *v1alpha1.FederatedHPAAssignment) []setting {
	const of = "spec.federatedHPAAssignment."
	policy := cmp.Or(string(a.FederatedHPAAssignmentType), string(assignment.Duplicated))
	all := []setting{{of + "federatedHPAAssignmentType", "policy", policy}}
	for i := range a.ClusterAutoscalingPreference {
		p := &a.ClusterAutoscalingPreference[i]
		whose := fmt.Sprintf("preference %d", i+1)
		if to := p.TargetCluster; to != nil && len(to.ClusterNames) == 1 {
			whose = fleet.Printable(to.ClusterNames[0], mostName)
		}
		add := func(field, name string, value int32) {
			all = append(all, setting{fmt.Sprintf("%sclusterAutoscalingPreference[%d].%s", of, i, field), name + " of " + whose, number(value)})
		}
		switch assignment.Policy(policy) {
		case assignment.StaticWeighted:
			add("staticWeight", "weight", ptr.Deref(p.StaticWeight, 1))
		case assignment.Prioritized:
			add("priority", "priority", ptr.Deref(p.Priority, 0))
		}
		if p.AutoscalingMaxThreshold != nil {
			add("autoscalingMaxThreshold", "most", *p.AutoscalingMaxThreshold)
		}
	}
	return all
}

// targetsOf are the targets of metrics.
func targetsOf(metrics []autoscalingv2.MetricSpec) (all []setting) {
	names := summary.Amounts(metrics, nil)
	for i := range metrics {
		m := &metrics[i]
		source := sourceField(m)
		target := v1alpha1.TargetOf(m)
		if source == "" || target == nil {
			continue
		}
		field := fmt.Sprintf("spec.metrics[%d].%s.target.", i, source)
		add := func(of, unit, value string) {
			all = append(all, setting{field + of, "target of " + names[i].Name + unit, value})
		}
		switch {
		case target.AverageUtilization != nil:
			add("averageUtilization", ", in percent", number(*target.AverageUtilization))
		case target.AverageValue != nil:
			add("averageValue", "", target.AverageValue.String())
		case target.Value != nil:
			add("value", "", target.Value.String())
		}
	}
	return all
}

// sourceField is the name of the field that a metric has.
func sourceField(m *autoscalingv2.MetricSpec) string {
	switch {
	case m.Resource != nil:
		return "resource"
	case m.ContainerResource != nil:
		return "containerResource"
	case m.Pods != nil:
		return "pods"
	case m.Object != nil:
		return "object"
	case m.External != nil:
		return "external"
	}
	return ""
}

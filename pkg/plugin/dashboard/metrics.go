// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// metric is one that an autoscaler follows, now.
type metric struct {
	Name string `json:"name"`
	// Unit is % for a ratio, B for bytes, or empty.
	Unit   string   `json:"unit,omitempty"`
	Value  *float64 `json:"value,omitempty"`
	Target *float64 `json:"target,omitempty"`
}

func metricsOf(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) []metric {
	all := make([]metric, 0, len(specs))
	for i, a := range summary.Amounts(specs, statuses) {
		all = append(all, metric{Name: a.Name, Unit: unitOf(&specs[i]), Value: a.Value, Target: a.Target})
	}
	return all
}

func unitOf(spec *autoscalingv2.MetricSpec) string {
	name, _, target := v1alpha1.ResourceOf(spec)
	switch {
	case target != nil && target.AverageUtilization != nil:
		return "%"
	case name == corev1.ResourceMemory:
		return "B"
	}
	return ""
}

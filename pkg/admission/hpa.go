// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// hpaFaults judges what a FederatedHPA has in common with a
// HorizontalPodAutoscaler.
func hpaFaults(spec *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) field.ErrorList {
	faults := boundsFaults(spec.MinReplicas, spec.MaxReplicas, path)
	faults = append(faults, scaleTargetFaults(spec.ScaleTargetRef, path.Child("scaleTargetRef"))...)
	faults = append(faults, metricsFaults(spec.Metrics, path.Child("metrics"))...)
	if zero(spec.MinReplicas) && !hasZeroMetric(spec.Metrics) {
		faults = append(faults, field.Forbidden(path.Child("metrics"),
			"must specify at least one Object or External metric to support scaling to zero replicas").WithOrigin(ruleZeroNeedsMetric))
	}
	return append(faults, behaviorFaults(spec.Behavior, path.Child("behavior"))...)
}

func boundsFaults(minReplicas *int32, maxReplicas int32, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if minReplicas != nil && *minReplicas < 0 {
		faults = append(faults, field.Invalid(path.Child("minReplicas"), *minReplicas,
			"must be greater than or equal to 0").WithOrigin(ruleMinReplicas))
	}
	switch {
	case maxReplicas == 0:
		faults = append(faults, field.Required(path.Child("maxReplicas"), "must be set and greater than 0").WithOrigin(ruleMaxReplicas))
	case maxReplicas < 0:
		faults = append(faults, field.Invalid(path.Child("maxReplicas"), maxReplicas,
			"must be greater than or equal to 1").WithOrigin(ruleMaxReplicas))
	}
	if minReplicas != nil && maxReplicas < *minReplicas {
		faults = append(faults, field.Invalid(path.Child("maxReplicas"), maxReplicas,
			"must be greater than or equal to `minReplicas`").WithOrigin(ruleMaxBelowMin))
	}
	return faults
}

func zero(replicas *int32) bool { return replicas != nil && *replicas == 0 }

// hasZeroMetric reports whether there is a metric whose value is known while no
// Pod runs.
func hasZeroMetric(metrics []autoscalingv2.MetricSpec) bool {
	return slices.ContainsFunc(metrics, func(m autoscalingv2.MetricSpec) bool {
		return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	})
}

func hpaWarnings(spec *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) []string {
	warnings := metricsWarnings(spec.Metrics, path.Child("metrics"))
	return append(warnings, behaviorWarnings(spec.Behavior, path.Child("behavior"))...)
}

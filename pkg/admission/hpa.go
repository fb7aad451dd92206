// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// hpaFaults judges what a FederatedHPA has in common with a
// HorizontalPodAutoscaler.
func hpaFaults(spec *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		boundsFaults(spec.MinReplicas, spec.MaxReplicas, path),
		scaleTargetFaults(spec.ScaleTargetRef, path.Child("scaleTargetRef")),
		metricsFaults(spec.Metrics, path.Child("metrics")),
		when(zero(spec.MinReplicas) && !hasZeroMetric(spec.Metrics), field.Forbidden(path.Child("metrics"),
			"must specify at least one Object or External metric to support scaling to zero replicas").WithOrigin(ruleZeroNeedsMetric)),
		behaviorFaults(spec.Behavior, path.Child("behavior")),
	)
}

func boundsFaults(minReplicas *int32, maxReplicas int32, path *field.Path) field.ErrorList {
	least, most := path.Child("minReplicas"), path.Child("maxReplicas")
	lower := ptr.Deref(minReplicas, math.MinInt32)
	return slices.Concat(
		when(minReplicas != nil && lower < 0,
			field.Invalid(least, lower, "must be greater than or equal to 0").WithOrigin(ruleMinReplicas)),
		when(maxReplicas == 0, field.Required(most, "must be set and greater than 0").WithOrigin(ruleMaxReplicas)),
		when(maxReplicas < 0, field.Invalid(most, maxReplicas, "must be greater than or equal to 1").WithOrigin(ruleMaxReplicas)),
		when(maxReplicas < lower, field.Invalid(most, maxReplicas, "must be greater than or equal to `minReplicas`").WithOrigin(ruleMaxBelowMin)),
	)
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
	return append(metricsWarnings(spec.Metrics, path.Child("metrics")), behaviorWarnings(spec.Behavior, path.Child("behavior"))...)
}

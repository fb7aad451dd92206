// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// targetFaults judges what all targets have in common.
func targetFaults(target autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	kind, utilization := path.Child("type"), ptr.Deref(target.AverageUtilization, 1)
	return slices.Concat(
		when(target.Type == "", field.Required(kind, "must specify a metric target type").WithOrigin(ruleTargetType)),
		when(!knownTargetType(target.Type), field.Invalid(kind, target.Type,
			"must be either Utilization, Value, or AverageValue").WithOrigin(ruleTargetType)),
		quantityFaults(target.Value, path.Child("value")),
		quantityFaults(target.AverageValue, path.Child("averageValue")),
		when(utilization < 1, field.Invalid(path.Child("averageUtilization"), utilization,
			"must be greater than 0").WithOrigin(ruleTargetPositive)),
	)
}

func knownTargetType(kind autoscalingv2.MetricTargetType) bool {
	return kind == autoscalingv2.UtilizationMetricType || kind == autoscalingv2.ValueMetricType || kind == autoscalingv2.AverageValueMetricType
}

// quantityFaults refuses what is not positive, and what cannot be counted in
// thousandths.
func quantityFaults(value *resource.Quantity, path *field.Path) field.ErrorList {
	switch {
	case value == nil:
		return nil
	case value.Sign() != 1:
		return field.ErrorList{field.Invalid(path, value, "must be positive").WithOrigin(ruleTargetPositive)}
	case value.Cmp(*resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)) > 0:
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be at most %d", math.MaxInt64/1000)).WithOrigin(ruleSize)}
	}
	return nil
}

// objectTargetFaults holds the type to the field that is set. Kubernetes
// accepts other pairs, and cannot compute them.
func objectTargetFaults(target autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	goal := goalField(autoscalingv2.ObjectMetricSourceType, target)
	switch {
	case goal == "":
		return field.ErrorList{field.Required(path.Child("averageValue"),
			"must set either a target value or averageValue").WithOrigin(ruleTargetMissing)}
	case target.Value != nil && target.AverageValue != nil:
		return field.ErrorList{field.Forbidden(path.Child("averageValue"),
			"may not set both a target value and averageValue").WithOrigin(ruleTargetBoth)}
	case target.Type != fitting(goal) && knownTargetType(target.Type):
		fault := fmt.Sprintf("must be %s, because %s is set", fitting(goal), goal)
		return field.ErrorList{field.Invalid(path.Child("type"), target.Type, fault).WithOrigin(ruleTargetFits)}
	}
	return nil
}

func externalTargetFaults(target autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	switch {
	case target.Value == nil && target.AverageValue == nil:
		return field.ErrorList{field.Required(path.Child("averageValue"),
			"must set either a target value for metric or a per-pod target").WithOrigin(ruleTargetMissing)}
	case target.Value != nil && target.AverageValue != nil:
		return field.ErrorList{field.Forbidden(path.Child("value"),
			"may not set both a target value for metric and a per-pod target").WithOrigin(ruleTargetBoth)}
	}
	return nil
}

func resourceTargetFaults(target autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	switch {
	case target.AverageUtilization == nil && target.AverageValue == nil:
		return field.ErrorList{field.Required(path.Child("averageUtilization"),
			"must set either a target raw value or a target utilization").WithOrigin(ruleTargetMissing)}
	case target.AverageUtilization != nil && target.AverageValue != nil:
		return field.ErrorList{field.Forbidden(path.Child("averageValue"),
			"may not set both a target raw value and a target utilization").WithOrigin(ruleTargetBoth)}
	}
	return nil
}

// goalField is the field of a target that counts, as the controller searches
// it; "" if there is none.
func goalField(kind autoscalingv2.MetricSourceType, target autoscalingv2.MetricTarget) string {
	switch {
	case target.AverageValue != nil:
		return "averageValue"
	case target.AverageUtilization != nil && heedsUtilization(kind):
		return "averageUtilization"
	case target.Value != nil && heedsValue(kind):
		return "value"
	}
	return ""
}

func heedsUtilization(kind autoscalingv2.MetricSourceType) bool {
	return kind == autoscalingv2.ResourceMetricSourceType || kind == autoscalingv2.ContainerResourceMetricSourceType
}

func heedsValue(kind autoscalingv2.MetricSourceType) bool {
	return kind == autoscalingv2.ObjectMetricSourceType || kind == autoscalingv2.ExternalMetricSourceType
}

// fitting is the type that goes with a field of a target.
func fitting(goal string) autoscalingv2.MetricTargetType {
	switch goal {
	case "averageValue":
		return autoscalingv2.AverageValueMetricType
	case "averageUtilization":
		return autoscalingv2.UtilizationMetricType
	}
	return autoscalingv2.ValueMetricType
}

// targetWarnings tells of what nobody reads: fields that the kind of metric
// does not have, and, except for Object metrics, a type that is not that of the
// field that is set.
func targetWarnings(s source) []string {
	path, with := s.path.Child("target"), "with a metric of type "+string(s.kind)
	warnings := append(
		unread(s.target.AverageUtilization != nil && !heedsUtilization(s.kind), path.Child("averageUtilization"), with),
		unread(s.target.Value != nil && !heedsValue(s.kind), path.Child("value"), with)...,
	)
	goal := goalField(s.kind, s.target)
	if s.kind != autoscalingv2.ObjectMetricSourceType && goal != "" && s.target.Type != fitting(goal) {
		warnings = append(warnings, fmt.Sprintf("%s: %s is ignored, because %s is set: write %s", path.Child("type"), s.target.Type, goal,
			fitting(goal)))
	}
	return warnings
}

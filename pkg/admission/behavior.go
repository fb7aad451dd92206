// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxStabilizationSeconds = 3600
	maxPeriodSeconds        = 1800
	maxPolicies             = 32
)

func behaviorFaults(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, path *field.Path) field.ErrorList {
	if behavior == nil {
		return nil
	}
	return append(scalingFaults(behavior.ScaleUp, path.Child("scaleUp")), scalingFaults(behavior.ScaleDown, path.Child("scaleDown"))...)
}

func scalingFaults(rules *autoscalingv2.HPAScalingRules, path *field.Path) field.ErrorList {
	if rules == nil {
		return nil
	}
	policies := path.Child("policies")
	return slices.Concat(
		stabilizationFaults(rules.StabilizationWindowSeconds, path.Child("stabilizationWindowSeconds")),
		selectPolicyFaults(rules.SelectPolicy, path.Child("selectPolicy")),
		when(len(rules.Policies) == 0, field.Required(policies, "must specify at least one Policy").WithOrigin(rulePolicies)),
		atMost(len(rules.Policies), maxPolicies, policies),
		each(rules.Policies, policies, policyFaults),
		toleranceFaults(rules.Tolerance, path.Child("tolerance")),
	)
}

func selectPolicyFaults(policy *autoscalingv2.ScalingPolicySelect, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	return oneOf(*policy, path, ruleSelectPolicy, autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect,
		autoscalingv2.MinChangePolicySelect)
}

func toleranceFaults(tolerance *resource.Quantity, path *field.Path) field.ErrorList {
	if tolerance == nil || tolerance.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, tolerance.String(), "must be greater than or equal to 0").WithOrigin(ruleTolerance)}
}

func stabilizationFaults(seconds *int32, path *field.Path) field.ErrorList {
	switch {
	case seconds == nil:
		return nil
	case *seconds < 0:
		return field.ErrorList{field.Invalid(path, *seconds, "must be greater than or equal to zero").WithOrigin(ruleStabilizationWindow)}
	case *seconds > maxStabilizationSeconds:
		return field.ErrorList{field.Invalid(path, *seconds,
			fmt.Sprintf("must be less than or equal to %d", maxStabilizationSeconds)).WithOrigin(ruleStabilizationWindow)}
	}
	return nil
}

func policyFaults(policy autoscalingv2.HPAScalingPolicy, path *field.Path) field.ErrorList {
	value, period := policy.Value, policy.PeriodSeconds
	return slices.Concat(
		oneOf(policy.Type, path.Child("type"), rulePolicyType, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy),
		when(value <= 0, field.Invalid(path.Child("value"), value, "must be greater than zero").WithOrigin(rulePolicyValue)),
		when(period <= 0, field.Invalid(path.Child("periodSeconds"), period, "must be greater than zero").WithOrigin(rulePolicyPeriod)),
		when(period > maxPeriodSeconds, field.Invalid(path.Child("periodSeconds"), period,
			"must be less than or equal to "+strconv.Itoa(maxPeriodSeconds)).WithOrigin(rulePolicyPeriod)),
	)
}

func behaviorWarnings(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, path *field.Path) []string {
	if behavior == nil || behavior.ScaleDown == nil || behavior.ScaleDown.Tolerance == nil ||
		behavior.ScaleDown.Tolerance.Cmp(resource.MustParse("1")) < 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: with 1 or more nothing is ever scaled down: write a part of 1, such as 0.1, or selectPolicy: Disabled",
		path.Child("scaleDown", "tolerance"))}
}

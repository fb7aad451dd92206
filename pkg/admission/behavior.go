// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

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
	faults := scalingFaults(behavior.ScaleUp, path.Child("scaleUp"))
	return append(faults, scalingFaults(behavior.ScaleDown, path.Child("scaleDown"))...)
}

func scalingFaults(rules *autoscalingv2.HPAScalingRules, path *field.Path) field.ErrorList {
	if rules == nil {
		return nil
	}
	faults := stabilizationFaults(rules.StabilizationWindowSeconds, path.Child("stabilizationWindowSeconds"))
	if rules.SelectPolicy != nil {
		faults = append(faults, oneOf(*rules.SelectPolicy, path.Child("selectPolicy"), ruleSelectPolicy,
			autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)...)
	}
	policies := path.Child("policies")
	if len(rules.Policies) == 0 {
		faults = append(faults, field.Required(policies, "must specify at least one Policy").WithOrigin(rulePolicies))
	}
	faults = append(faults, atMost(len(rules.Policies), maxPolicies, policies)...)
	for i, policy := range rules.Policies {
		faults = append(faults, policyFaults(policy, policies.Index(i))...)
	}
	if rules.Tolerance != nil && rules.Tolerance.Sign() < 0 {
		faults = append(faults, field.Invalid(path.Child("tolerance"), rules.Tolerance.String(),
			"must be greater than or equal to 0").WithOrigin(ruleTolerance))
	}
	return faults
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
	faults := oneOf(policy.Type, path.Child("type"), rulePolicyType, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
	if policy.Value <= 0 {
		faults = append(faults, field.Invalid(path.Child("value"), policy.Value, "must be greater than zero").WithOrigin(rulePolicyValue))
	}
	switch {
	case policy.PeriodSeconds <= 0:
		faults = append(faults, field.Invalid(path.Child("periodSeconds"), policy.PeriodSeconds,
			"must be greater than zero").WithOrigin(rulePolicyPeriod))
	case policy.PeriodSeconds > maxPeriodSeconds:
		faults = append(faults, field.Invalid(path.Child("periodSeconds"), policy.PeriodSeconds,
			fmt.Sprintf("must be less than or equal to %d", maxPeriodSeconds)).WithOrigin(rulePolicyPeriod))
	}
	return faults
}

func behaviorWarnings(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, path *field.Path) []string {
	if behavior == nil || behavior.ScaleDown == nil || behavior.ScaleDown.Tolerance == nil ||
		behavior.ScaleDown.Tolerance.Cmp(resource.MustParse("1")) < 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: with 1 or more nothing is ever scaled down: write a part of 1, such as 0.1, or selectPolicy: Disabled",
		path.Child("scaleDown", "tolerance"))}
}

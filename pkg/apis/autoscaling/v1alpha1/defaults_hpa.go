// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// What Kubernetes 1.37 fills in for a HorizontalPodAutoscaler.
const (
	defaultMinReplicas           int32 = 1
	defaultCPUUtilizationPercent int32 = 80
	defaultPolicyPeriodSeconds   int32 = 15
	defaultPolicyPods            int32 = 4
	defaultPolicyPercent         int32 = 100
)

// defaultHPA completes the part of the spec that is Kubernetes' own, as its API server does. A behavior that is absent
// stays so; one that is present is completed in both directions. The stabilization window of scaleDown and the
// tolerances stay absent: they are the controller's flags. An empty list of policies is kept, and refused by validation.
func defaultHPA(spec *autoscalingv2.HorizontalPodAutoscalerSpec) {
	fill(&spec.MinReplicas, defaultMinReplicas)
	if len(spec.Metrics) == 0 {
		spec.Metrics = []autoscalingv2.MetricSpec{defaultMetric()}
	}
	if spec.Behavior == nil {
		return
	}
	fill(&spec.Behavior.ScaleUp, autoscalingv2.HPAScalingRules{})
	fill(&spec.Behavior.ScaleDown, autoscalingv2.HPAScalingRules{})
	fill(&spec.Behavior.ScaleUp.StabilizationWindowSeconds, 0)
	defaultRules(spec.Behavior.ScaleUp, policy(autoscalingv2.PodsScalingPolicy, defaultPolicyPods),
		policy(autoscalingv2.PercentScalingPolicy, defaultPolicyPercent))
	defaultRules(spec.Behavior.ScaleDown, policy(autoscalingv2.PercentScalingPolicy, defaultPolicyPercent))
}

func defaultRules(rules *autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) {
	fill(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if rules.Policies == nil {
		rules.Policies = policies
	}
}

func policy(kind autoscalingv2.HPAScalingPolicyType, value int32) autoscalingv2.HPAScalingPolicy {
	return autoscalingv2.HPAScalingPolicy{Type: kind, Value: value, PeriodSeconds: defaultPolicyPeriodSeconds}
}

func defaultMetric() autoscalingv2.MetricSpec {
	utilization := defaultCPUUtilizationPercent
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
		},
	}
}

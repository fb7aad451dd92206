// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// spec draws a spec, with its defaults. Most are valid; metrics also have the faults that only show when they are read.
func (d dice) spec() autoscalingv2.HorizontalPodAutoscalerSpec {
	s := autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
		MinReplicas:    new(d.int32(0, 6)),
		MaxReplicas:    d.int32(6, 60),
	}
	for i := range of(d, 1, 1, 1, 2, 3) {
		s.Metrics = append(s.Metrics, d.metric(i))
	}
	if d.oneIn(2) {
		s.Behavior = d.behavior()
	}
	f := v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: s}}
	v1alpha1.DefaultFederatedHPA(&f)
	return f.Spec.HorizontalPodAutoscalerSpec
}

func (d dice) behavior() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	b := &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	if !d.oneIn(4) {
		b.ScaleUp = d.rules()
	}
	if !d.oneIn(4) {
		b.ScaleDown = d.rules()
	}
	return b
}

func (d dice) rules() *autoscalingv2.HPAScalingRules {
	r := &autoscalingv2.HPAScalingRules{}
	if d.oneIn(2) {
		r.StabilizationWindowSeconds = new(of(d, int32(0), 15, 60, 300, 600))
	}
	if d.oneIn(2) {
		r.SelectPolicy = new(of(d, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.MinChangePolicySelect,
			autoscalingv2.DisabledPolicySelect))
	}
	for range of(d, 0, 1, 2, 3) {
		r.Policies = append(r.Policies, autoscalingv2.HPAScalingPolicy{
			Type:          of(d, autoscalingv2.PodsScalingPolicy, autoscalingv2.PercentScalingPolicy),
			Value:         of(d, int32(1), 2, 4, 7, 10, 50, 90, 100, 300),
			PeriodSeconds: of(d, int32(1), 15, 30, 60, 300, 1800),
		})
	}
	if d.oneIn(3) {
		r.Tolerance = new(resource.MustParse(of(d, "0", "0.05", "0.1", "0.2", "0.5", "1")))
	}
	return r
}

func (d dice) metric(i int) autoscalingv2.MetricSpec {
	id := autoscalingv2.MetricIdentifier{Name: fmt.Sprintf("m%d", i), Selector: d.selector()}
	switch d.IntN(16) {
	case 0, 1, 2, 3:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{Name: d.resource(), Target: d.use()}}
	case 4, 5:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType,
			ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
				Name: d.resource(), Container: of(d, "app", "app", "app", "app", "sidecar", "nobody"), Target: d.use()}}
	case 6, 7, 8:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: id,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: d.quantity()}}}
	case 9, 10, 11:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{Metric: id,
			DescribedObject: autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Service", Name: "front"}, Target: d.value()}}
	case 12, 13, 14:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType,
			External: &autoscalingv2.ExternalMetricSource{Metric: id, Target: d.value()}}
	}
	if d.oneIn(2) {
		return autoscalingv2.MetricSpec{Type: "Weather"}
	}
	return d.metric(i)
}

func (d dice) resource() corev1.ResourceName {
	return of(d, corev1.ResourceCPU, corev1.ResourceCPU, corev1.ResourceMemory)
}

func (d dice) selector() *metav1.LabelSelector {
	switch d.IntN(12) {
	case 0:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}} // not valid
	case 1, 2:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "orders"}}
	}
	return nil
}

// use draws a target for a resource; one has none, and one two.
func (d dice) use() autoscalingv2.MetricTarget {
	percent := of(d, int32(1), 30, 50, 50, 80, 100, 150)
	switch d.IntN(12) {
	case 0:
		return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType}
	case 1:
		return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent, AverageValue: d.quantity()}
	case 2, 3, 4, 5:
		return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: d.quantity()}
	}
	return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}
}

// value draws a target for a value; some do not fit their type.
func (d dice) value() autoscalingv2.MetricTarget {
	switch d.IntN(10) {
	case 0:
		return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType}
	case 1, 2, 3, 4:
		return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: d.quantity()}
	}
	return autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: d.quantity()}
}

func (d dice) quantity() *resource.Quantity {
	return resource.NewMilliQuantity(of(d, int64(1), 7, 100, 250, 500, 1000, 3333), resource.DecimalSI)
}

// SPDX-License-Identifier: Apache-2.0

// Package federatedhpatest has what tests of controllers share: FederatedHPAs, a hub that stores them, members, and, for both modes of
// FederatedHPAs, what happens to these by chance.
package federatedhpatest

import (
	"math/rand/v2"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Web is the key of the object that most tests are about.
var Web = client.ObjectKey{Namespace: "shop", Name: "web"}

// Full is what a Pod requests that requests a core.
var Full = replicas.RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
	Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}})

// NewObject follows the cpu of its Pods, which should be half of what they request.
func NewObject(name string) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), Generation: 1}}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(int32(2)), 100
	f.Spec.Metrics = []autoscalingv2.MetricSpec{CPU(50)}
	return f
}

// CPU is so much of what Pods request.
func CPU(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

// Queue is an External metric of so much for each replica.
func Queue(each string) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse(each))}}}
}

// Silence returns that of a cluster which does not answer.
func Silence() *fleet.Silence {
	return &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer within the deadline"}
}

// HPA scales the workload web, but for the changes.
func HPA(name string, change func(*autoscalingv2.HorizontalPodAutoscaler)) autoscalingv2.HorizontalPodAutoscaler {
	h := autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	h.Spec.ScaleTargetRef = NewObject("web").Spec.ScaleTargetRef
	change(&h)
	return h
}

// RandomSpec has any bounds, windows and policies.
func RandomSpec(r *rand.Rand) autoscalingv2.HorizontalPodAutoscalerSpec {
	f := NewObject("web")
	f.Spec.Metrics = []autoscalingv2.MetricSpec{Queue("1")}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(1+r.Int32N(5)), 15+r.Int32N(30)
	rules := func() *autoscalingv2.HPAScalingRules {
		if r.IntN(3) == 0 {
			return nil
		}
		rules := &autoscalingv2.HPAScalingRules{}
		if r.IntN(2) == 0 {
			rules.StabilizationWindowSeconds = new(int32(r.IntN(5) * 100))
		}
		for range r.IntN(3) {
			kind := autoscalingv2.PodsScalingPolicy
			if r.IntN(2) == 0 {
				kind = autoscalingv2.PercentScalingPolicy
			}
			rules.Policies = append(rules.Policies, autoscalingv2.HPAScalingPolicy{Type: kind, Value: 1 + r.Int32N(50),
				PeriodSeconds: 15 + r.Int32N(200)})
		}
		return rules
	}
	if r.IntN(3) > 0 {
		f.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
	}
	v1alpha1.DefaultFederatedHPA(f)
	return f.Spec.HorizontalPodAutoscalerSpec
}

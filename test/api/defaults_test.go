// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	upstream "k8s.io/kubernetes/pkg/apis/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// The part of the spec that is Kubernetes' own gets the defaults that Kubernetes gives it.
func TestDefaultsAreThoseOfKubernetes(t *testing.T) {
	for seed := range uint64(2000) {
		given := randomHPA(rand.New(rand.NewPCG(seed, 0)))
		want := &autoscalingv2.HorizontalPodAutoscaler{Spec: *given.DeepCopy()}
		upstream.SetObjectDefaults_HorizontalPodAutoscaler(want)
		got := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: *given}}
		v1alpha1.DefaultFederatedHPA(got)
		if diff := cmp.Diff(want.Spec, got.Spec.HorizontalPodAutoscalerSpec); diff != "" {
			t.Fatalf("seed %d (-Kubernetes +ours):\n%s", seed, diff)
		}
	}
}

// randomHPA leaves out or gives each field that has a default.
func randomHPA(r *rand.Rand) *autoscalingv2.HorizontalPodAutoscalerSpec {
	spec := &autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: r.Int32N(9)}
	maybe := func(set func()) {
		if r.IntN(2) == 0 {
			set()
		}
	}
	maybe(func() { spec.MinReplicas = new(r.Int32N(3)) })
	maybe(func() { spec.Metrics = []autoscalingv2.MetricSpec{} })
	maybe(func() {
		spec.Metrics = append(spec.Metrics,
			autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceMemory}})
	})
	rules := func() *autoscalingv2.HPAScalingRules {
		rules := &autoscalingv2.HPAScalingRules{}
		maybe(func() { rules.StabilizationWindowSeconds = new(r.Int32N(9)) })
		maybe(func() { rules.SelectPolicy = new(autoscalingv2.MinChangePolicySelect) })
		maybe(func() { rules.Policies = []autoscalingv2.HPAScalingPolicy{} })
		maybe(func() {
			rules.Policies = append(rules.Policies, autoscalingv2.HPAScalingPolicy{Type: "Pods", Value: r.Int32N(3)})
		})
		return rules
	}
	maybe(func() {
		spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
		maybe(func() { spec.Behavior.ScaleUp = rules() })
		maybe(func() { spec.Behavior.ScaleDown = rules() })
	})
	return spec
}

// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// What would be too long to read in a manifest.
func TestSizes(t *testing.T) {
	tests := map[string]struct {
		most int
		set  func(spec *v1alpha1.FederatedHPASpec, size int)
		want string
	}{
		"metrics": {32, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.Metrics = nil
			for i := range size {
				s.Metrics = append(s.Metrics, external(fmt.Sprint("queue", i), nil))
			}
		}, "spec.metrics: Too many: 33: must have at most 32 items"},
		"characters of the workload's name": {253, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ScaleTargetRef.Name = strings.Repeat("a", size)
		}, "spec.scaleTargetRef.name: Too long: may not be more than 253 characters"},
		"characters of the workload's apiVersion": {317, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ScaleTargetRef.APIVersion = "a.b/" + strings.Repeat("v", size-4)
		}, "spec.scaleTargetRef.apiVersion: Too long: may not be more than 317 characters"},
		"characters of a metric's name": {512, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.Metrics = []autoscalingv2.MetricSpec{external(strings.Repeat("q", size), nil)}
		}, "spec.metrics[0].external.metric.name: Too long: may not be more than 512 characters"},
		"labels of a selector": {64, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.Metrics = []autoscalingv2.MetricSpec{external("queue", &metav1.LabelSelector{MatchLabels: labels(size)})}
		}, "spec.metrics[0].external.metric.selector.matchLabels: Too many: 65: must have at most 64 items"},
		"expressions of a selector": {32, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterAffinity = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{}}
			for range size {
				s.ClusterAffinity.LabelSelector.MatchExpressions = append(s.ClusterAffinity.LabelSelector.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpExists})
			}
		}, "spec.clusterAffinity.labelSelector.matchExpressions: Too many: 33: must have at most 32 items"},
		"values of an expression": {100, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterAffinity = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: words(size)},
			}}}
		}, "spec.clusterAffinity.labelSelector.matchExpressions[0].values: Too many: 101: must have at most 100 items"},
		"requirements on fields": {32, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterAffinity = byField()
			for range size - 1 {
				s.ClusterAffinity.FieldSelector.MatchExpressions = append(s.ClusterAffinity.FieldSelector.MatchExpressions,
					s.ClusterAffinity.FieldSelector.MatchExpressions[0])
			}
		}, "spec.clusterAffinity.fieldSelector.matchExpressions: Too many: 33: must have at most 32 items"},
		"values of a field": {100, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterAffinity = byField(words(size)...)
		}, "spec.clusterAffinity.fieldSelector.matchExpressions[0].values: Too many: 101: must have at most 100 items"},
		"characters of a field's value": {253, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterAffinity = byField(strings.Repeat("r", size))
		}, "spec.clusterAffinity.fieldSelector.matchExpressions[0].values[0]: Too long: may not be more than 253 characters"},
		"names of clusters": {1000, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: words(size)}
		}, "spec.clusterAffinity.clusterNames: Too many: 1001: must have at most 1000 items"},
		"tolerations": {16, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ClusterTolerations = make([]corev1.Toleration, size)
			for i := range s.ClusterTolerations {
				s.ClusterTolerations[i].Operator = corev1.TolerationOpExists
			}
		}, "spec.clusterTolerations: Too many: 17: must have at most 16 items"},
		"preferences": {1000, func(s *v1alpha1.FederatedHPASpec, size int) {
			s.ReplicaDistribution = &v1alpha1.ReplicaDistribution{}
			for range size {
				s.ReplicaDistribution.ClusterAutoscalingPreference = append(s.ReplicaDistribution.ClusterAutoscalingPreference,
					v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{}})
			}
		}, "spec.replicaDistribution.clusterAutoscalingPreference: Too many: 1001: must have at most 1000 items"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for size, want := range map[int]string{tc.most: "", tc.most + 1: tc.want} {
				f := federatedHPA()
				tc.set(&f.Spec, size)
				admission.MutateFederatedHPA(f)
				fleettest.Same(t, fmt.Sprint(size), want, answer(admission.ValidateFederatedHPA(f, nil, admission.Neighbours{})))
			}
		})
	}
}

func TestSizesOfAMultidimPodAutoscaler(t *testing.T) {
	tests := map[string]struct {
		most int
		set  func(spec *v1alpha1.MultidimPodAutoscalerSpec, size int)
		want string
	}{
		"goals": {10, func(s *v1alpha1.MultidimPodAutoscalerSpec, size int) {
			s.Goals, s.Constraints.Global = &v1alpha1.Goals{}, &v1alpha1.GlobalConstraints{MaxReplicas: 9}
			for i := range size {
				s.Goals.Metrics = append(s.Goals.Metrics, external(fmt.Sprint("queue", i), nil))
			}
		}, "spec.goals.metrics: Too many: 11: must have at most 10 items"},
		"containers": {100, func(s *v1alpha1.MultidimPodAutoscalerSpec, size int) {
			for _, word := range words(size) {
				s.Constraints.Container = append(s.Constraints.Container, v1alpha1.ContainerConstraint{Name: word})
			}
		}, "spec.constraints.container: Too many: 101: must have at most 100 items"},
		"characters of a recommender's name": {63, func(s *v1alpha1.MultidimPodAutoscalerSpec, size int) {
			s.Recommenders = []v1alpha1.RecommenderReference{{Name: strings.Repeat("r", size)}}
		}, "spec.recommenders[0].name: Too long: may not be more than 63 characters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for size, want := range map[int]string{tc.most: "", tc.most + 1: tc.want} {
				m := multidim()
				tc.set(&m.Spec, size)
				admission.MutateMultidimPodAutoscaler(m)
				fleettest.Same(t, fmt.Sprint(size), want, answer(admission.ValidateMultidimPodAutoscaler(m, nil, admission.Neighbours{})))
			}
		})
	}
	m := multidim()
	tests["goals"].set(&m.Spec, 33) // more than a FederatedHPA has: said once
	const want = "spec.goals.metrics: Too many: 33: must have at most 10 items"
	if got := answer(admission.ValidateMultidimPodAutoscaler(m, nil, admission.Neighbours{})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func federatedHPA() *v1alpha1.FederatedHPA {
	return &v1alpha1.FederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"},
			MaxReplicas:    10,
		}},
	}
}

func external(name string, selector *metav1.LabelSelector) autoscalingv2.MetricSpec {
	goal := resource.MustParse("5")
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: name, Selector: selector},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &goal},
	}}
}

func byField(values ...string) *v1alpha1.ClusterAffinity {
	if len(values) == 0 {
		values = []string{"west"}
	}
	return &v1alpha1.ClusterAffinity{FieldSelector: &v1alpha1.FieldSelector{MatchExpressions: []v1alpha1.FieldSelectorRequirement{
		{Key: v1alpha1.FieldRegion, Operator: v1alpha1.FieldSelectorIn, Values: values},
	}}}
}

func words(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("w", i)
	}
	return all
}

func labels(n int) map[string]string {
	all := map[string]string{}
	for _, word := range words(n) {
		all[word] = word
	}
	return all
}

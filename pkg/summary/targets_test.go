// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestTargets(t *testing.T) {
	quantity := func(text string) *resource.Quantity { return new(resource.MustParse(text)) }
	rate := autoscalingv2.MetricIdentifier{Name: "requests_per_second"}
	utilization := autoscalingv2.MetricTarget{AverageUtilization: new(int32(70))}
	average := autoscalingv2.MetricTarget{AverageValue: quantity("200m")}
	total := autoscalingv2.MetricTarget{Value: quantity("2k")}
	used := autoscalingv2.MetricValueStatus{AverageUtilization: new(int32(63)), AverageValue: quantity("126m")}
	seen := autoscalingv2.MetricValueStatus{Value: quantity("1500")}
	for want, tc := range map[string]struct {
		spec   autoscalingv2.MetricSpec
		status autoscalingv2.MetricStatus
	}{
		"cpu: 63%/70%": {
			autoscalingv2.MetricSpec{Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: utilization}},
			autoscalingv2.MetricStatus{Resource: &autoscalingv2.ResourceMetricStatus{Current: used}},
		},
		"cpu: 126m/200m (avg)": { // its utilization is known too, and is not its goal
			autoscalingv2.MetricSpec{Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: average}},
			autoscalingv2.MetricStatus{Resource: &autoscalingv2.ResourceMetricStatus{Current: used}},
		},
		"cpu of web: 63%/70%": {
			autoscalingv2.MetricSpec{ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
				Name: "cpu", Container: "web", Target: utilization}},
			autoscalingv2.MetricStatus{ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Current: used}},
		},
		"requests_per_second: 126m/200m (avg)": {
			autoscalingv2.MetricSpec{Pods: &autoscalingv2.PodsMetricSource{Metric: rate, Target: average}},
			autoscalingv2.MetricStatus{Pods: &autoscalingv2.PodsMetricStatus{Current: used}},
		},
		"requests_per_second: 1500/2k": {
			autoscalingv2.MetricSpec{Object: &autoscalingv2.ObjectMetricSource{Metric: rate, Target: total}},
			autoscalingv2.MetricStatus{Object: &autoscalingv2.ObjectMetricStatus{Current: seen}},
		},
		"requests_per_second: 1500/200m (avg)": {
			autoscalingv2.MetricSpec{External: &autoscalingv2.ExternalMetricSource{Metric: rate, Target: average}},
			autoscalingv2.MetricStatus{External: &autoscalingv2.ExternalMetricStatus{Current: seen}},
		},
		"requests_per_second: <unknown>/2k": {
			autoscalingv2.MetricSpec{External: &autoscalingv2.ExternalMetricSource{Metric: rate, Target: total}}, autoscalingv2.MetricStatus{},
		},
		"Resource: <unknown>/<unset>": {autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType}, autoscalingv2.MetricStatus{}},
	} {
		got := Targets([]autoscalingv2.MetricSpec{tc.spec}, []autoscalingv2.MetricStatus{tc.status})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	cpu := autoscalingv2.MetricSpec{Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: utilization}}
	first := autoscalingv2.MetricStatus{Resource: &autoscalingv2.ResourceMetricStatus{Current: used}}
	got := Targets([]autoscalingv2.MetricSpec{cpu, cpu}, []autoscalingv2.MetricStatus{first})
	if want := "cpu: 63%/70%, cpu: <unknown>/70%"; got != want {
		t.Errorf("the second was not read yet: %q, want %q", got, want)
	}
}

func TestClusters(t *testing.T) {
	of := func(states ...v1alpha1.ClusterState) (all []v1alpha1.ClusterStatus) {
		for _, s := range states {
			all = append(all, v1alpha1.ClusterStatus{State: s})
		}
		return all
	}
	for want, clusters := range map[string][]v1alpha1.ClusterStatus{
		"0/0": of(v1alpha1.ClusterExcluded),
		"0/1": of(v1alpha1.ClusterUnreachable),
		"2/3": of(v1alpha1.ClusterActive, v1alpha1.ClusterExcluded, v1alpha1.ClusterUnreachable, v1alpha1.ClusterSaturated),
	} {
		if got := Clusters(clusters); got != want {
			t.Errorf("%v: %s, want %s", clusters, got, want)
		}
	}
}

func TestCondition(t *testing.T) {
	able := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.AbleToScale, Reason: "ReadyForNewScale"}
	limited := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingLimited, Reason: "TooManyReplicas"}
	s := &v1alpha1.FederatedHPAStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{able, limited}}
	if diff := cmp.Diff(limited, Condition(s, autoscalingv2.ScalingLimited)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	fleettest.Same(t, "one that is not there", autoscalingv2.HorizontalPodAutoscalerCondition{}, Condition(s, autoscalingv2.ScalingActive))
}

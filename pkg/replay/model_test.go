// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func TestUseOfUtilization(t *testing.T) {
	spec := &autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name:   corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))},
	}}
	for name, c := range map[string]struct {
		sums replicas.Sums
		want usage
	}{
		"one Pod":     {replicas.Sums{Counted: 1, Used: 400, Requests: 500}, usage{80, true, true}},
		"two Pods":    {replicas.Sums{Counted: 2, Used: 400, Requests: 1000}, usage{40, true, true}},
		"no requests": {replicas.Sums{Counted: 1, Used: 400}, usage{ofRequests: true}},
	} {
		if got := use(&replicas.Metric{Told: &replicas.Told{Sums: c.sums}}, spec); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

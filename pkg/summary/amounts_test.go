// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestAmounts(t *testing.T) {
	quantity := func(text string) *resource.Quantity { return new(resource.MustParse(text)) }
	cpu := func(target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: target}}
	}
	uses := func(v autoscalingv2.MetricValueStatus) autoscalingv2.MetricStatus {
		return autoscalingv2.MetricStatus{Resource: &autoscalingv2.ResourceMetricStatus{Name: "cpu", Current: v}}
	}
	both := autoscalingv2.MetricValueStatus{AverageUtilization: new(int32(63)), AverageValue: quantity("126m")}
	queue := autoscalingv2.MetricSpec{External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue_depth"}, Target: autoscalingv2.MetricTarget{Value: quantity("2k")},
	}}
	for name, tc := range map[string]struct {
		spec     autoscalingv2.MetricSpec
		statuses []autoscalingv2.MetricStatus
		want     Amount
	}{
		"utilization is a ratio": {
			cpu(autoscalingv2.MetricTarget{AverageUtilization: new(int32(80))}), []autoscalingv2.MetricStatus{uses(both)},
			Amount{"cpu", new(0.63), new(0.8)},
		},
		"an average is in base units": {
			cpu(autoscalingv2.MetricTarget{AverageValue: quantity("200m")}), []autoscalingv2.MetricStatus{uses(both)},
			Amount{"cpu", new(0.126), new(0.2)},
		},
		"a total": {
			queue, []autoscalingv2.MetricStatus{{External: &autoscalingv2.ExternalMetricStatus{
				Current: autoscalingv2.MetricValueStatus{Value: quantity("1500")}}}},
			Amount{"queue_depth", new(1500.0), new(2000.0)},
		},
		"one that could not be read": {queue, []autoscalingv2.MetricStatus{{}}, Amount{"queue_depth", nil, new(2000.0)}},
		"one that was not read yet":  {queue, nil, Amount{"queue_depth", nil, new(2000.0)}},
	} {
		fleettest.Same(t, name, []Amount{tc.want}, Amounts([]autoscalingv2.MetricSpec{tc.spec}, tc.statuses))
	}
}

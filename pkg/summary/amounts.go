// SPDX-License-Identifier: Apache-2.0

package summary

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Amount is what a metric is and what it should be, in base units: cores, bytes, and utilization as a ratio of what is
// requested. Nil: not known.
type Amount struct {
	Name          string
	Value, Target *float64
}

// Amounts are those of the metrics of a spec, in its order.
func Amounts(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) []Amount {
	all := make([]Amount, len(specs))
	for i := range specs {
		name, goal := goalOf(&specs[i])
		a := Amount{Name: name, Target: amount(goal.AverageUtilization, goal.AverageValue, goal.Value)}
		if i < len(statuses) {
			v := ptr.Deref(v1alpha1.CurrentOf(&statuses[i]), autoscalingv2.MetricValueStatus{})
			if goal.AverageUtilization == nil { // beside an average its utilization is told too
				v.AverageUtilization = nil
			}
			a.Value = amount(v.AverageUtilization, v.AverageValue, v.Value)
		}
		all[i] = a
	}
	return all
}

// amount is the first that there is.
func amount(utilization *int32, average, total *resource.Quantity) *float64 {
	switch {
	case utilization != nil:
		return new(float64(*utilization) / 100)
	case average != nil:
		return new(average.AsApproximateFloat64())
	case total != nil:
		return new(total.AsApproximateFloat64())
	}
	return nil
}

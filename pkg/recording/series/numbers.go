// SPDX-License-Identifier: Apache-2.0

package series

import (
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

// whole32 reads a number of replicas; it reports whether there is one.
func whole32(into *int32, value float64) bool {
	if !(value >= 0 && value <= math.MaxInt32) || value != math.Trunc(value) {
		return false
	}
	*into = int32(value)
	return true
}

func optional(value float64) *int32 {
	n := int32(0)
	if !whole32(&n, value) {
		return nil
	}
	return &n
}

// seconds is a Unix time, to the microsecond; the zero time: there is none.
func seconds(value float64) time.Time {
	if !(value > 0 && value < 1<<33) {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(value * 1e6))).UTC()
}

// retarget sets what a target was, in base units and utilization as a ratio; it reports whether that is another one. What is no target
// changes nothing.
func retarget(target *autoscalingv2.MetricTarget, value float64) bool {
	if target == nil || !(value > 0 && value < math.MaxInt32*1e6) {
		return false
	}
	amount := target.AverageValue
	switch {
	case target.AverageUtilization != nil:
		percent := int32(min(math.Round(value*100), math.MaxInt32))
		changed := percent != *target.AverageUtilization
		target.AverageUtilization = &percent
		return changed
	case amount == nil:
		amount = target.Value
	}
	if amount == nil || amount.AsApproximateFloat64() == value {
		return false
	}
	*amount = *resource.NewMilliQuantity(int64(math.Round(value*1000)), amount.Format)
	return true
}

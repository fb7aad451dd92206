// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"math"
	"math/big"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ratios are the current values of the metrics over their targets, in thousandths, rounded up; nil if one is not known.
// A HorizontalPodAutoscaler reports its metrics in their order, with an empty entry for one that it cannot read.
func ratios(metrics []autoscalingv2.MetricSpec, current []autoscalingv2.MetricStatus) []int64 {
	if len(metrics) == 0 || len(metrics) != len(current) {
		return nil
	}
	all := make([]int64, len(metrics))
	for i := range metrics {
		value, target, alike := pair(metrics[i], current[i])
		ratio, known := over(value, target)
		if !alike || !known {
			return nil
		}
		all[i] = ratio
	}
	return all
}

// pair returns the value and the target of a metric, if it is the same one.
func pair(m autoscalingv2.MetricSpec, s autoscalingv2.MetricStatus) (value autoscalingv2.MetricValueStatus,
	target autoscalingv2.MetricTarget, alike bool) {
	switch {
	case m.Type != s.Type:
	case m.Resource != nil && s.Resource != nil:
		return s.Resource.Current, m.Resource.Target, m.Resource.Name == s.Resource.Name
	case m.ContainerResource != nil && s.ContainerResource != nil:
		return s.ContainerResource.Current, m.ContainerResource.Target,
			m.ContainerResource.Name == s.ContainerResource.Name && m.ContainerResource.Container == s.ContainerResource.Container
	case m.Pods != nil && s.Pods != nil:
		return s.Pods.Current, m.Pods.Target, equality.Semantic.DeepEqual(m.Pods.Metric, s.Pods.Metric)
	case m.Object != nil && s.Object != nil:
		return s.Object.Current, m.Object.Target,
			m.Object.DescribedObject == s.Object.DescribedObject && equality.Semantic.DeepEqual(m.Object.Metric, s.Object.Metric)
	case m.External != nil && s.External != nil:
		return s.External.Current, m.External.Target, equality.Semantic.DeepEqual(m.External.Metric, s.External.Metric)
	}
	return value, target, false
}

// over is the ratio of what is both reported and aimed at.
func over(value autoscalingv2.MetricValueStatus, target autoscalingv2.MetricTarget) (thousandths int64, known bool) {
	switch {
	case value.AverageUtilization != nil && target.AverageUtilization != nil:
		return divide(percent(*value.AverageUtilization), percent(*target.AverageUtilization))
	case value.AverageValue != nil && target.AverageValue != nil:
		return divide(*value.AverageValue, *target.AverageValue)
	case value.Value != nil && target.Value != nil:
		return divide(*value.Value, *target.Value)
	default:
		return 0, false
	}
}

func percent(n int32) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

// divide returns a/b in thousandths, rounded up, at least 0 and at most [math.MaxInt64]; false if there is no such number.
func divide(a, b resource.Quantity) (thousandths int64, known bool) {
	value, sane := exact(a)
	target, saneToo := exact(b)
	switch {
	case !sane || !saneToo || target.Sign() <= 0:
		return 0, false
	case value.Sign() <= 0:
		return 0, true
	}
	ratio := value.Quo(value, target)
	ratio.Mul(ratio, big.NewRat(1000, 1))
	whole, rest := new(big.Int).QuoRem(ratio.Num(), ratio.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return math.MaxInt64, true
	}
	return whole.Int64(), true
}

// maxPowers are more powers of ten than any quantity of sense has. Others (1e2000000000 is a quantity) would take all
// memory to write out. There is none below a billionth.
const maxPowers = 64

// exact is the quantity as it is; false if it is beyond all sense.
func exact(q resource.Quantity) (*big.Rat, bool) {
	number := q.AsDec()
	powers := int64(number.Scale())
	if powers < -maxPowers {
		return nil, false
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(powers, -powers)), nil)
	if powers < 0 {
		return new(big.Rat).SetInt(power.Mul(power, number.UnscaledBig())), true
	}
	return new(big.Rat).SetFrac(number.UnscaledBig(), power), true
}

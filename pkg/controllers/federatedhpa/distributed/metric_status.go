// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// metrics returns those of the spec over all clusters that run something, by what their autoscalers say: averages over Pods
// are weighed by replicas, and of values the highest stands. One that a cluster does not know has an empty entry.
func (in *situation) metrics() []autoscalingv2.MetricStatus {
	running := in.running()
	if len(running) == 0 {
		return nil
	}
	all := make([]autoscalingv2.MetricStatus, len(in.Object.Spec.Metrics))
	for i := range all {
		mean := mean{}
		for _, s := range running {
			statuses := s.own.Status.CurrentMetrics
			if i >= len(statuses) || statuses[i].Type == "" {
				mean.unknown = true
				break
			}
			mean.add(&statuses[i], int64(s.current()))
		}
		all[i] = mean.status()
	}
	return all
}

// mean joins one metric of many clusters.
type mean struct {
	first   *autoscalingv2.MetricStatus // in whose words it is said
	weight  int64
	percent int64 // times weight
	average resource.Quantity
	highest *resource.Quantity
	unknown bool

	hasPercent, hasAverage bool
}

func (m *mean) add(s *autoscalingv2.MetricStatus, weight int64) {
	if m.first == nil {
		m.first = s
	}
	v := v1alpha1.CurrentOf(s)
	if v == nil {
		m.unknown = true
		return
	}
	m.weight += weight
	if v.AverageUtilization != nil {
		m.hasPercent = true
		m.percent += int64(*v.AverageUtilization) * weight
	}
	if v.AverageValue != nil {
		m.hasAverage = true
		m.average.Format = v.AverageValue.Format
		sum := v.AverageValue.DeepCopy()
		sum.Mul(weight)
		m.average.Add(sum)
	}
	if v.Value != nil && (m.highest == nil || v.Value.Cmp(*m.highest) > 0) {
		m.highest = v.Value
	}
}

func (m *mean) status() autoscalingv2.MetricStatus {
	if m.unknown || m.first == nil || m.weight == 0 {
		return autoscalingv2.MetricStatus{}
	}
	said := m.first.DeepCopy()
	v := v1alpha1.CurrentOf(said)
	*v = autoscalingv2.MetricValueStatus{Value: m.highest}
	if m.hasPercent {
		v.AverageUtilization = new(int32(m.percent / m.weight))
	}
	if m.hasAverage {
		v.AverageValue = resource.NewMilliQuantity(m.average.MilliValue()/m.weight, m.average.Format)
	}
	return *said
}

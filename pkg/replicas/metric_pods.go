// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (v *view) pods(source *autoscalingv2.PodsMetricSource, m *Metric) proposal {
	got, err := v.podsAverage(source, m)
	if err != nil {
		p := invalid(ReasonFailedGetPodsMetric, err, "failed to get pods metric value")
		p.measured = got
		return p
	}
	return proposal{
		measured: got,
		name:     fmt.Sprintf("pods metric %s", source.Metric.Name),
		status: autoscalingv2.MetricStatus{
			Type: autoscalingv2.PodsMetricSourceType,
			Pods: &autoscalingv2.PodsMetricStatus{
				Metric:  source.Metric,
				Current: autoscalingv2.MetricValueStatus{AverageValue: amount("", got.value)},
			},
		},
	}
}

func (v *view) podsAverage(source *autoscalingv2.PodsMetricSource, m *Metric) (measured, error) {
	if _, err := metav1.LabelSelectorAsSelector(source.Metric.Selector); err != nil {
		return measured{}, err
	}
	if source.Target.AverageValue == nil {
		return measured{}, errors.New("invalid pods metric source: no average value target was set")
	}
	if m.Err != nil {
		return measured{}, fmt.Errorf("unable to get metric %s: %w", source.Metric.Name, m.Err)
	}
	return v.average(source.Target.AverageValue.MilliValue(), need{}, m)
}

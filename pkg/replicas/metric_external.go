// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (v *view) external(source *autoscalingv2.ExternalMetricSource, m *Metric) proposal {
	prefix := fmt.Sprintf("failed to get %s external metric value", source.Metric.Name)
	switch {
	case source.Target.AverageValue != nil:
		return v.externalShare(source, m, prefix)
	case source.Target.Value != nil:
		return v.externalValue(source, m, prefix)
	}
	return invalid(ReasonFailedGetExternalMetric,
		errors.New("invalid external metric source: neither a value target nor an average value target was set"), prefix)
}

func (v *view) externalShare(source *autoscalingv2.ExternalMetricSource, m *Metric, prefix string) proposal {
	if err := v.noValues(source, m); err != nil {
		return invalid(ReasonFailedGetExternalMetric, err, fmt.Sprintf("%s: failed to get %s external metric", prefix, source.Metric.Name))
	}
	value := totalOfShares(m.values())
	got := v.shared(value, source.Target.AverageValue.MilliValue(), m)
	if float64(value) >= math.MaxInt64 {
		got.value = math.MaxInt64 // a sum beyond the bound has no share that is known
	}
	return externalProposal(source, got, autoscalingv2.MetricValueStatus{AverageValue: amount("", got.value)})
}

func (v *view) externalValue(source *autoscalingv2.ExternalMetricSource, m *Metric, prefix string) proposal {
	err, got := v.noValues(source, m), measured{}
	if err == nil {
		got, err = v.scaled(total(m.values()), source.Target.Value.MilliValue(), m)
	}
	if err != nil {
		p := invalid(ReasonFailedGetExternalMetric, err, fmt.Sprintf("%s: failed to get external metric %s", prefix, source.Metric.Name))
		p.measured = got
		return p
	}
	return externalProposal(source, got, autoscalingv2.MetricValueStatus{Value: amount("", got.value)})
}

func (v *view) noValues(source *autoscalingv2.ExternalMetricSource, m *Metric) error {
	if _, err := metav1.LabelSelectorAsSelector(source.Metric.Selector); err != nil {
		return err
	}
	if m.Err != nil {
		return fmt.Errorf("unable to get external metric %s/%s/%+v: %w", v.Namespace, source.Metric.Name, source.Metric.Selector, m.Err)
	}
	return nil
}

func externalProposal(source *autoscalingv2.ExternalMetricSource, got measured, current autoscalingv2.MetricValueStatus) proposal {
	return proposal{
		measured: got,
		name:     fmt.Sprintf("external metric %s(%+v)", source.Metric.Name, source.Metric.Selector),
		status: autoscalingv2.MetricStatus{
			Type:     autoscalingv2.ExternalMetricSourceType,
			External: &autoscalingv2.ExternalMetricStatus{Metric: source.Metric, Current: current},
		},
	}
}

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (v *view) object(source *autoscalingv2.ObjectMetricSource, m *Metric) proposal {
	const prefix = "failed to get object metric value"
	if _, err := metav1.LabelSelectorAsSelector(source.Metric.Selector); err != nil {
		return invalid(ReasonFailedGetObjectMetric, err, prefix)
	}
	switch target := &source.Target; {
	case target.Type == autoscalingv2.ValueMetricType && target.Value != nil:
		return v.objectValue(source, m)
	case target.Type == autoscalingv2.AverageValueMetricType && target.AverageValue != nil:
		return v.objectShare(source, m)
	}
	return invalid(ReasonFailedGetObjectMetric,
		errors.New("invalid object metric source: neither a value target nor an average value target was set"), prefix)
}

func (v *view) objectValue(source *autoscalingv2.ObjectMetricSource, m *Metric) proposal {
	value, err := v.valueOf(source, m)
	got := measured{}
	if err == nil {
		got, err = v.scaled(value, source.Target.Value.MilliValue(), m)
	}
	if err != nil {
		p := invalid(ReasonFailedGetObjectMetric, err, "failed to get object metric value")
		p.measured = got
		return p
	}
	return objectProposal(source, got, fmt.Sprintf("%s metric %s", source.DescribedObject.Kind, source.Metric.Name),
		autoscalingv2.MetricValueStatus{Value: amount("", got.value)})
}

// objectShare is called an external metric, as in Kubernetes.
func (v *view) objectShare(source *autoscalingv2.ObjectMetricSource, m *Metric) proposal {
	value, err := v.valueOf(source, m)
	if err != nil {
		return invalid(ReasonFailedGetObjectMetric, err, fmt.Sprintf("failed to get object metric value: failed to get %s object metric",
			source.Metric.Name))
	}
	got := v.shared(value, source.Target.AverageValue.MilliValue(), m)
	return objectProposal(source, got, fmt.Sprintf("external metric %s(%+v)", source.Metric.Name, source.Metric.Selector),
		autoscalingv2.MetricValueStatus{AverageValue: amount("", got.value)})
}

func (v *view) valueOf(source *autoscalingv2.ObjectMetricSource, m *Metric) (int64, error) {
	err := m.Err
	if m.Told != nil {
		return m.Told.Value, nil
	}
	if err == nil && len(m.Values) != 1 {
		err = errValues(m)
	}
	if err != nil {
		return 0, fmt.Errorf("unable to get metric %s on %s %s/%s: %w", source.Metric.Name, source.DescribedObject.Kind,
			v.Namespace, source.DescribedObject.Name, err)
	}
	return m.Values[0], nil
}

func objectProposal(source *autoscalingv2.ObjectMetricSource, got measured, name string, current autoscalingv2.MetricValueStatus) proposal {
	return proposal{measured: got, name: name, status: autoscalingv2.MetricStatus{
		Type: autoscalingv2.ObjectMetricSourceType,
		Object: &autoscalingv2.ObjectMetricStatus{
			DescribedObject: source.DescribedObject,
			Metric:          source.Metric,
			Current:         current,
		},
	}}
}

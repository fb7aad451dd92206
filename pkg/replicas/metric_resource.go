// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func (v *view) resource(source *autoscalingv2.ResourceMetricSource, m *Metric) proposal {
	p, current, err := v.use(need{resource: source.Name}, &source.Target, m)
	if err != nil {
		p.fault = invalid(ReasonFailedGetResourceMetric, err, fmt.Sprintf("failed to get %s resource metric value", source.Name)).fault
		return p
	}
	p.status = autoscalingv2.MetricStatus{
		Type:     autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricStatus{Name: source.Name, Current: current},
	}
	return p
}

func (v *view) containerResource(source *autoscalingv2.ContainerResourceMetricSource, m *Metric) proposal {
	p, current, err := v.use(need{source.Name, source.Container}, &source.Target, m)
	if err != nil {
		p.fault = invalid(ReasonFailedGetContainerResourceMetric, err,
			fmt.Sprintf("failed to get %s container metric value", source.Container)).fault
		return p
	}
	if source.Target.AverageValue == nil {
		p.name = fmt.Sprintf("%s container resource utilization (percentage of request)", source.Name)
	}
	p.status = autoscalingv2.MetricStatus{
		Type:              autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Name: source.Name, Container: source.Container, Current: current},
	}
	return p
}

// use compares the use of a resource with its target, whatever type the target says it has.
func (v *view) use(n need, target *autoscalingv2.MetricTarget, m *Metric) (proposal, autoscalingv2.MetricValueStatus, error) {
	switch {
	case target.AverageValue != nil:
		return v.usage(n, target.AverageValue.MilliValue(), m)
	case target.AverageUtilization != nil:
		return v.utilization(n, *target.AverageUtilization, m)
	}
	return proposal{}, autoscalingv2.MetricValueStatus{},
		errors.New("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set")
}

func (v *view) usage(n need, target int64, m *Metric) (proposal, autoscalingv2.MetricValueStatus, error) {
	got, err := measured{}, unavailable(n, m)
	if err == nil {
		got, err = v.average(target, n, m)
	}
	if err != nil {
		return proposal{measured: got}, autoscalingv2.MetricValueStatus{}, fmt.Errorf("failed to get %s usage: %w", n.resource, err)
	}
	return proposal{measured: got, name: fmt.Sprintf("%s resource", n.resource)},
		autoscalingv2.MetricValueStatus{AverageValue: amount(n.resource, got.value)}, nil
}

func (v *view) utilization(n need, target int32, m *Metric) (proposal, autoscalingv2.MetricValueStatus, error) {
	got, err := measured{}, unavailable(n, m)
	if err == nil {
		got, err = v.utilize(target, n, m)
	}
	if err != nil {
		return proposal{measured: got}, autoscalingv2.MetricValueStatus{}, fmt.Errorf("failed to get %s utilization: %w", n.resource, err)
	}
	return proposal{measured: got, name: fmt.Sprintf("%s resource utilization (percentage of request)", n.resource)},
		autoscalingv2.MetricValueStatus{AverageUtilization: &got.percent, AverageValue: amount(n.resource, got.value)}, nil
}

func unavailable(n need, m *Metric) error {
	if m.Err == nil {
		return nil
	}
	return fmt.Errorf("unable to get metrics for resource %s: %w", n.resource, m.Err)
}

// amount writes memory as metrics-server does.
func amount(name corev1.ResourceName, milli int64) *resource.Quantity {
	if name == corev1.ResourceMemory {
		return resource.NewMilliQuantity(milli, resource.BinarySI)
	}
	return resource.NewMilliQuantity(milli, resource.DecimalSI)
}

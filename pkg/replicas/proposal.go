// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// proposal is what one metric asks for, or why it asks for nothing.
type proposal struct {
	measured
	name   string // of the metric, for people
	status autoscalingv2.MetricStatus
	fault  *fault
}

// measured is what a metric comes to.
type measured struct {
	replicas int32
	value    int64 // milli
	percent  int32 // of a utilization
	groups   groups
	working  Working
}

// fault is why a metric cannot be used.
type fault struct {
	reason string
	inner  error // for its condition and its event
	outer  error // for the error of the whole decision
}

// SpecError is a decision's error that only a change of the spec can fix.
type SpecError struct{ Err error }

func (e SpecError) Error() string { return e.Err.Error() }

func (e SpecError) Unwrap() error { return e.Err }

// propose asks the metric of that index.
func (v *view) propose(i int) proposal {
	spec, m := &v.Spec.Metrics[i], v.answer(i)
	switch {
	case spec.Type == autoscalingv2.ObjectMetricSourceType && spec.Object != nil:
		return v.object(spec.Object, m)
	case spec.Type == autoscalingv2.PodsMetricSourceType && spec.Pods != nil:
		return v.pods(spec.Pods, m)
	case spec.Type == autoscalingv2.ResourceMetricSourceType && spec.Resource != nil:
		return v.resource(spec.Resource, m)
	case spec.Type == autoscalingv2.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		return v.containerResource(spec.ContainerResource, m)
	case spec.Type == autoscalingv2.ExternalMetricSourceType && spec.External != nil:
		return v.external(spec.External, m)
	}
	return invalid(ReasonInvalidMetricSourceType, SpecError{unknown(spec)}, "")
}

func unknown(spec *autoscalingv2.MetricSpec) error {
	for _, kind := range []autoscalingv2.MetricSourceType{autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType,
		autoscalingv2.ResourceMetricSourceType, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType} {
		if spec.Type == kind {
			return fmt.Errorf("metric of type %q without its source", string(spec.Type))
		}
	}
	return fmt.Errorf("unknown metric source type %q", string(spec.Type))
}

// answer is the one to the metric of that index.
func (v *view) answer(i int) *Metric {
	if i < len(v.Metrics) {
		return &v.Metrics[i]
	}
	return &Metric{Err: fmt.Errorf("the metric was not requested")}
}

// invalid is the proposal of a metric that cannot be used; prefix leads its error to those who do not know the metric.
func invalid(reason string, err error, prefix string) proposal {
	outer := err
	if prefix != "" {
		outer = fmt.Errorf("%s: %w", prefix, err)
	}
	return proposal{fault: &fault{reason: reason, inner: err, outer: outer}}
}

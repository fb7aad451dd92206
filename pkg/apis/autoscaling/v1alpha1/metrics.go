// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// TargetOf returns the target of a metric; nil: it has no source.
func TargetOf(spec *autoscalingv2.MetricSpec) *autoscalingv2.MetricTarget {
	switch {
	case spec.Resource != nil:
		return &spec.Resource.Target
	case spec.ContainerResource != nil:
		return &spec.ContainerResource.Target
	case spec.Pods != nil:
		return &spec.Pods.Target
	case spec.Object != nil:
		return &spec.Object.Target
	case spec.External != nil:
		return &spec.External.Target
	}
	return nil
}

// CurrentOf returns what a metric was measured at; nil: it has no source, as one that could not be read.
func CurrentOf(status *autoscalingv2.MetricStatus) *autoscalingv2.MetricValueStatus {
	switch {
	case status.Resource != nil:
		return &status.Resource.Current
	case status.ContainerResource != nil:
		return &status.ContainerResource.Current
	case status.Pods != nil:
		return &status.Pods.Current
	case status.Object != nil:
		return &status.Object.Current
	case status.External != nil:
		return &status.External.Current
	}
	return nil
}

// ResourceOf returns the resource that a metric is of, its container, which is empty where it is of whole Pods, and its target; nil: the
// metric is of no resource.
func ResourceOf(spec *autoscalingv2.MetricSpec) (name corev1.ResourceName, container string, target *autoscalingv2.MetricTarget) {
	switch {
	case spec.Resource != nil:
		return spec.Resource.Name, "", &spec.Resource.Target
	case spec.ContainerResource != nil:
		return spec.ContainerResource.Name, spec.ContainerResource.Container, &spec.ContainerResource.Target
	}
	return "", "", nil
}

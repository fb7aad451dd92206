// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxMetrics    = 32
	maxMetricName = 512
)

func metricsFaults(metrics []autoscalingv2.MetricSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		atMost(len(metrics), maxMetrics, path),
		each(metrics, path, metricFaults),
		repeatedMetrics(metrics, path),
	)
}

// metricFaults judges the first source that there is; what else is there has
// no place.
func metricFaults(metric autoscalingv2.MetricSpec, path *field.Path) field.ErrorList {
	faults := metricTypeFaults(metric.Type, path.Child("type"))
	present := sources(metric, path)
	if len(present) > 0 {
		faults = append(faults, present[0].faults()...)
	}
	return append(faults, sourceFaults(metric.Type, present, path)...)
}

func metricTypeFaults(kind autoscalingv2.MetricSourceType, path *field.Path) field.ErrorList {
	return append(when(kind == "", field.Required(path, "must specify a metric source type").WithOrigin(ruleMetricType)),
		oneOf(kind, path, ruleMetricType, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
			autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType)...)
}

// source is one of the fields of a metric of which the type selects one.
type source struct {
	kind   autoscalingv2.MetricSourceType
	path   *field.Path
	target autoscalingv2.MetricTarget
	faults func() field.ErrorList
	// measures is nil where the metric is that of a resource.
	measures *autoscalingv2.MetricIdentifier
}

// sources returns those that are there.
func sources(metric autoscalingv2.MetricSpec, path *field.Path) []source {
	var present []source
	if m := metric.Object; m != nil {
		at := path.Child("object")
		present = append(present, source{autoscalingv2.ObjectMetricSourceType, at, m.Target,
			func() field.ErrorList { return objectFaults(m, at) }, &m.Metric})
	}
	if m := metric.External; m != nil {
		at := path.Child("external")
		present = append(present, source{autoscalingv2.ExternalMetricSourceType, at, m.Target,
			func() field.ErrorList { return externalFaults(m, at) }, &m.Metric})
	}
	if m := metric.Pods; m != nil {
		at := path.Child("pods")
		present = append(present, source{autoscalingv2.PodsMetricSourceType, at, m.Target, func() field.ErrorList { return podsFaults(m, at) },
			&m.Metric})
	}
	if m := metric.Resource; m != nil {
		at := path.Child("resource")
		present = append(present, source{autoscalingv2.ResourceMetricSourceType, at, m.Target,
			func() field.ErrorList { return resourceFaults(m.Name, m.Target, at) }, nil})
	}
	if m := metric.ContainerResource; m != nil {
		at := path.Child("containerResource")
		present = append(present, source{autoscalingv2.ContainerResourceMetricSourceType, at, m.Target,
			func() field.ErrorList { return containerFaults(m, at) }, nil})
	}
	return present
}

// sourceFaults compares the sources with the type. A single wrong one is told
// by the right one that is missing.
func sourceFaults(kind autoscalingv2.MetricSourceType, present []source, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	found := false
	for _, s := range present {
		found = found || s.kind == kind
		if s.kind != kind && len(present) > 1 {
			faults = append(faults, field.Forbidden(s.path, "must populate the given metric source only").WithOrigin(ruleMetricSource))
		}
	}
	if name := sourceField(kind); name != "" && !found {
		faults = append(faults, field.Required(path.Child(name),
			"must populate information for the given metric source").WithOrigin(ruleMetricSource))
	}
	return faults
}

func sourceField(kind autoscalingv2.MetricSourceType) string {
	switch kind {
	case autoscalingv2.ObjectMetricSourceType:
		return "object"
	case autoscalingv2.ExternalMetricSourceType:
		return "external"
	case autoscalingv2.PodsMetricSourceType:
		return "pods"
	case autoscalingv2.ResourceMetricSourceType:
		return "resource"
	case autoscalingv2.ContainerResourceMetricSourceType:
		return "containerResource"
	}
	return ""
}

func objectFaults(m *autoscalingv2.ObjectMetricSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		referenceFaults(m.DescribedObject, path.Child("describedObject"), true),
		identifierFaults(m.Metric, path.Child("metric")),
		targetFaults(m.Target, path.Child("target")),
		objectTargetFaults(m.Target, path.Child("target")),
	)
}

func externalFaults(m *autoscalingv2.ExternalMetricSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		identifierFaults(m.Metric, path.Child("metric")),
		targetFaults(m.Target, path.Child("target")),
		externalTargetFaults(m.Target, path.Child("target")),
	)
}

func podsFaults(m *autoscalingv2.PodsMetricSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		identifierFaults(m.Metric, path.Child("metric")),
		targetFaults(m.Target, path.Child("target")),
		when(m.Target.AverageValue == nil, field.Required(path.Child("target", "averageValue"),
			"must specify a positive target averageValue").WithOrigin(ruleTargetMissing)),
	)
}

func containerFaults(m *autoscalingv2.ContainerResourceMetricSource, path *field.Path) field.ErrorList {
	at := path.Child("container")
	faults := field.ErrorList{field.Required(at, "must specify a container").WithOrigin(ruleContainer)}
	if m.Container != "" {
		faults = invalid(validation.IsDNS1123Label(m.Container), at, m.Container, ruleContainer)
	}
	return append(faults, resourceFaults(m.Name, m.Target, path)...)
}

// resourceFaults knows the resources that metrics.k8s.io has. Kubernetes takes
// any name, and never finds the metric.
func resourceFaults(name corev1.ResourceName, target autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	return slices.Concat(
		when(name == "", field.Required(path.Child("name"), "must specify a resource name").WithOrigin(ruleResourceName)),
		orNone(name, path.Child("name"), ruleResourceName, corev1.ResourceCPU, corev1.ResourceMemory),
		targetFaults(target, path.Child("target")),
		resourceTargetFaults(target, path.Child("target")),
	)
}

func identifierFaults(metric autoscalingv2.MetricIdentifier, path *field.Path) field.ErrorList {
	return slices.Concat(
		segmentFaults(metric.Name, "must specify a metric name", path.Child("name"), ruleMetricName),
		noLonger(metric.Name, maxMetricName, path.Child("name")),
		selectorFaults(metric.Selector, path.Child("selector"), ruleMetricSelector),
		reservedFaults(metric.Selector, path.Child("selector")),
	)
}

func metricsWarnings(metrics []autoscalingv2.MetricSpec, path *field.Path) []string {
	var warnings []string
	for i, metric := range metrics {
		for _, s := range sources(metric, path.Index(i)) {
			warnings = append(warnings, targetWarnings(s)...)
		}
	}
	return warnings
}

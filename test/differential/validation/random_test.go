// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"math/rand/v2"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writer writes specs as a person would who gets most fields right.
type writer struct{ *rand.Rand }

func newWriter(seed uint64) writer { return writer{rand.New(rand.NewPCG(seed, 0))} }

func (w writer) oneIn(n int) bool { return w.IntN(n) == 0 }

// pick takes one of the right values, and now and then one of the wrong ones.
func pick[T any](w writer, right []T, wrong ...T) T {
	if w.oneIn(25) {
		return wrong[w.IntN(len(wrong))]
	}
	return right[w.IntN(len(right))]
}

// maybe leaves a field out, one time in n.
func maybe[T any](w writer, n int, value T) *T {
	if w.oneIn(n) {
		return nil
	}
	return &value
}

func (w writer) spec() autoscalingv2.HorizontalPodAutoscalerSpec {
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: w.reference(),
		MinReplicas:    maybe(w, 8, pick(w, []int32{1, 2, 3, 10}, 0, 0, -1, 100)),
		MaxReplicas:    pick(w, []int32{10, 11, 100, 2147483647}, 0, -1, 1, -2147483648),
		Behavior:       w.behavior(),
	}
	for range w.IntN(4) {
		spec.Metrics = append(spec.Metrics, w.metric())
	}
	if w.oneIn(300) {
		for range 33 {
			spec.Metrics = append(spec.Metrics, w.metric())
		}
	}
	return spec
}

func (w writer) reference() autoscalingv2.CrossVersionObjectReference {
	return autoscalingv2.CrossVersionObjectReference{
		Kind: pick(w, []string{"Deployment", "Deployment", "StatefulSet"}, "", ".", "..", "a/b", "a%b/c", "DaemonSet",
			"ReplicationController", "HorizontalPodAutoscaler", strings.Repeat("K", 64)),
		Name: pick(w, []string{"shop", "front.end", "A b"}, "", ".", "..", "a/b", "%", strings.Repeat("n", 254)),
		APIVersion: pick(w, []string{"apps/v1", "apps/v1beta1"}, "", "v1", "/", "/v1", "apps/", "a/b/c", "app/v1", "batch/v1",
			"argoproj.io/v1alpha1", strings.Repeat("v", 320)),
	}
}

func (w writer) metric() autoscalingv2.MetricSpec {
	kinds := []autoscalingv2.MetricSourceType{"Object", "Pods", "Resource", "External", "ContainerResource"}
	kind := kinds[w.IntN(len(kinds))]
	metric := autoscalingv2.MetricSpec{Type: kind}
	w.put(&metric, kind)
	switch {
	case w.oneIn(30):
		metric.Type = pick(w, append(kinds, "", "Node", "object"), "")
	case w.oneIn(30):
		for range 1 + w.IntN(3) {
			w.put(&metric, kinds[w.IntN(len(kinds))])
		}
	case w.oneIn(50):
		metric = autoscalingv2.MetricSpec{Type: kind}
	}
	return metric
}

// put adds a source to a metric.
func (w writer) put(metric *autoscalingv2.MetricSpec, kind autoscalingv2.MetricSourceType) {
	resourceName := pick(w, []corev1.ResourceName{"cpu", "memory"}, "", "disk", "nvidia.com/gpu", "kubernetes.io/x", "a b", "requests.x.y/z",
		"hugepages-2Mi", "ephemeral-storage")
	switch kind {
	case "Object":
		metric.Object = &autoscalingv2.ObjectMetricSource{DescribedObject: w.reference(), Metric: w.identifier(),
			Target: w.target("Value", "AverageValue")}
	case "Pods":
		metric.Pods = &autoscalingv2.PodsMetricSource{Metric: w.identifier(), Target: w.target("AverageValue")}
	case "Resource":
		metric.Resource = &autoscalingv2.ResourceMetricSource{Name: resourceName, Target: w.target("Utilization", "AverageValue")}
	case "External":
		metric.External = &autoscalingv2.ExternalMetricSource{Metric: w.identifier(), Target: w.target("Value", "AverageValue")}
	case "ContainerResource":
		container := pick(w, []string{"app", "proxy-1"}, "", "App", "a.b", "-", strings.Repeat("c", 64))
		metric.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{Name: resourceName, Container: container,
			Target: w.target("Utilization", "AverageValue")}
	}
}

func (w writer) identifier() autoscalingv2.MetricIdentifier {
	return autoscalingv2.MetricIdentifier{
		Name:     pick(w, []string{"requests", "errors", "queue:length", "a b"}, "", ".", "a/b%", "%", strings.Repeat("m", 513)),
		Selector: w.selector(),
	}
}

func (w writer) selector() *metav1.LabelSelector {
	if w.oneIn(2) {
		return nil
	}
	selector := &metav1.LabelSelector{}
	for range w.IntN(3) {
		if selector.MatchLabels == nil {
			selector.MatchLabels = map[string]string{}
		}
		key, value := w.label()
		selector.MatchLabels[key] = value
	}
	for range w.IntN(3) {
		key, value := w.label()
		requirement := metav1.LabelSelectorRequirement{Key: key, Operator: pick(w, []metav1.LabelSelectorOperator{"In", "In", "NotIn", "Exists"},
			"", "Equals", "DoesNotExist")}
		for range pick(w, []int{1}, 0, 2, 3) {
			requirement.Values = append(requirement.Values, value)
			_, value = w.label()
		}
		if requirement.Operator == "Exists" && !w.oneIn(10) {
			requirement.Values = nil
		}
		selector.MatchExpressions = append(selector.MatchExpressions, requirement)
	}
	return selector
}

func (w writer) label() (string, string) {
	switch w.IntN(10) {
	case 0:
		return "fleetscale.io/merge", pick(w, []string{"sum", "avg", "max", "min"}, "median", "", "x y")
	case 1:
		return "fleetscale.io/partial", pick(w, []string{"allow"}, "deny", "")
	case 2:
		return "fleetscale.io/cluster", pick(w, []string{"east", "west"}, "x y")
	}
	return pick(w, []string{"app", "example.org/app", "A"}, "", "a b", "a/b/c"),
		pick(w, []string{"shop", "", "1"}, "a b", "-", strings.Repeat("x", 64))
}

// target is of one of the types that go with its source.
func (w writer) target(kinds ...autoscalingv2.MetricTargetType) autoscalingv2.MetricTarget {
	kind := kinds[w.IntN(len(kinds))]
	target := autoscalingv2.MetricTarget{Type: pick(w, []autoscalingv2.MetricTargetType{kind}, "", "Utilization", "Value", "AverageValue",
		"Total", "value")}
	fields := []autoscalingv2.MetricTargetType{kind}
	switch {
	case w.oneIn(30):
		fields = nil
	case w.oneIn(15):
		fields = append(fields, []autoscalingv2.MetricTargetType{"Utilization", "Value", "AverageValue"}[w.IntN(3)])
	}
	for _, field := range fields {
		quantity := resource.MustParse(pick(w, []string{"1", "100m", "1k", "5Gi"}, "0", "-1", "0m", "-5Gi", "9223372036854775807", "1n"))
		switch field {
		case "Value":
			target.Value = &quantity
		case "AverageValue":
			target.AverageValue = &quantity
		case "Utilization":
			utilization := pick(w, []int32{1, 50, 80, 300}, 0, -1)
			target.AverageUtilization = &utilization
		}
	}
	return target
}

func (w writer) behavior() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	if w.oneIn(2) {
		return nil
	}
	behavior := &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	if !w.oneIn(4) {
		behavior.ScaleUp = w.rules()
	}
	if !w.oneIn(4) {
		behavior.ScaleDown = w.rules()
	}
	return behavior
}

func (w writer) rules() *autoscalingv2.HPAScalingRules {
	rules := &autoscalingv2.HPAScalingRules{
		StabilizationWindowSeconds: maybe(w, 3, pick(w, []int32{0, 60, 3600}, -1, 3601)),
		SelectPolicy:               maybe(w, 3, pick(w, []autoscalingv2.ScalingPolicySelect{"Max", "Min", "Disabled"}, "", "max")),
		Tolerance:                  maybe(w, 2, resource.MustParse(pick(w, []string{"0", "0.1", "2"}, "-0.1", "-1n"))),
	}
	for range pick(w, []int{1, 2}, 0, 33) {
		rules.Policies = append(rules.Policies, autoscalingv2.HPAScalingPolicy{
			Type:          pick(w, []autoscalingv2.HPAScalingPolicyType{"Pods", "Percent"}, "", "pods"),
			Value:         pick(w, []int32{1, 100, 2147483647}, 0, -1),
			PeriodSeconds: pick(w, []int32{1, 15, 1800}, 0, -1, 1801),
		})
	}
	return rules
}

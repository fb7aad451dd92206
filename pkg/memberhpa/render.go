// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"maps"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Render returns what is to be in a cluster, under that name, for its part of f: of f's metrics and behavior all, with what
// Kubernetes would fill in, and without the keys in selectors of metrics that are for the fleet. It shares nothing with f.
//
// One that is held still comes down to its maximum. A window is at most an hour, and a part of a second counts as one. One that is
// bumped may scale to zero by itself; without an Object or External metric it cannot, and keeps its minimum.
func Render(f *v1alpha1.FederatedHPA, name string, p assignment.SiteStep) *autoscalingv2.HorizontalPodAutoscaler {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta: metav1.TypeMeta{APIVersion: autoscalingv2.SchemeGroupVersion.String(), Kind: kind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace,
			Name:      name,
			Labels:    map[string]string{v1alpha1.ManagedByLabel: string(f.UID)},
		},
		Spec: spec(f, p),
	}
	hpa.Annotations = map[string]string{appliedAnnotation: digest(hpa.Spec)}
	return hpa
}

func spec(f *v1alpha1.FederatedHPA, p assignment.SiteStep) autoscalingv2.HorizontalPodAutoscalerSpec {
	complete := f.DeepCopy()
	if (p.Hold || p.Window > 0) && complete.Spec.Behavior == nil {
		complete.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	}
	v1alpha1.DefaultFederatedHPA(complete) // both directions of a behavior, so that its policies are valid
	spec := complete.Spec.HorizontalPodAutoscalerSpec
	spec.MinReplicas, spec.MaxReplicas = new(p.Min), p.Max
	for i := range spec.Metrics {
		forMember(&spec.Metrics[i])
	}
	if p.Bumped && slices.ContainsFunc(spec.Metrics, knownWithoutPods) {
		spec.MinReplicas = new(int32(0))
	}
	if p.Window > 0 {
		spec.Behavior.ScaleDown.StabilizationWindowSeconds = new(seconds(p.Window))
	}
	if p.Hold {
		spec.Behavior.ScaleDown.SelectPolicy = new(autoscalingv2.DisabledPolicySelect)
	}
	return spec
}

// forMember takes out of a metric's selector what is for the fleet: the member's adapter would select series with such
// labels, and there are none. Admission refuses these keys, but may have been off.
func forMember(m *autoscalingv2.MetricSpec) {
	if m.Object != nil {
		m.Object.Metric.Selector = withoutReserved(m.Object.Metric.Selector)
	}
	if m.Pods != nil {
		m.Pods.Metric.Selector = withoutReserved(m.Pods.Metric.Selector)
	}
	if m.External != nil {
		m.External.Metric.Selector = withoutReserved(m.External.Metric.Selector)
	}
}

// withoutReserved changes the selector, and returns nil where nothing is left of it.
func withoutReserved(selector *metav1.LabelSelector) *metav1.LabelSelector {
	if selector == nil {
		return nil
	}
	reserved := fleet.ReservedKeys()
	before := len(selector.MatchLabels) + len(selector.MatchExpressions)
	maps.DeleteFunc(selector.MatchLabels, func(key, _ string) bool { return slices.Contains(reserved, key) })
	selector.MatchExpressions = slices.DeleteFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return slices.Contains(reserved, r.Key)
	})
	if before > 0 && len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return nil
	}
	return selector
}

// knownWithoutPods: the metric has a value where nothing runs.
func knownWithoutPods(m autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
}

// seconds is the window as a HorizontalPodAutoscaler accepts it.
func seconds(window time.Duration) int32 {
	return int32((min(window, time.Hour) + time.Second - 1) / time.Second)
}

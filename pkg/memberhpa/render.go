// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Part is what one cluster's HorizontalPodAutoscaler is given.
type Part struct {
	Name     string // of the HorizontalPodAutoscaler
	Min, Max int32  // 1 <= Min <= Max
	// Hold: it does not scale down by its metrics. Above Max it still comes down to it.
	Hold bool
	// Window is how long it waits before it scales down, up to an hour; a part of a second counts as one. 0: as the spec says.
	Window time.Duration
	// FromZero: it may scale to zero by itself. Without an Object or External metric it can not, and keeps Min.
	FromZero bool
}

// Render returns what is to be in a cluster for its part of f: of f's metrics and behavior all, with what Kubernetes
// would fill in. It shares nothing with f.
func Render(f *v1alpha1.FederatedHPA, p Part) *autoscalingv2.HorizontalPodAutoscaler {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta: metav1.TypeMeta{APIVersion: autoscalingv2.SchemeGroupVersion.String(), Kind: kind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace,
			Name:      p.Name,
			Labels:    map[string]string{v1alpha1.ManagedByLabel: string(f.UID)},
		},
		Spec: spec(f, p),
	}
	hpa.Annotations = map[string]string{appliedAnnotation: digest(hpa.Spec)}
	return hpa
}

func spec(f *v1alpha1.FederatedHPA, p Part) autoscalingv2.HorizontalPodAutoscalerSpec {
	complete := f.DeepCopy()
	if (p.Hold || p.Window > 0) && complete.Spec.Behavior == nil {
		complete.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	}
	v1alpha1.DefaultFederatedHPA(complete) // both directions of a behavior, so that its policies are valid
	spec := complete.Spec.HorizontalPodAutoscalerSpec
	spec.MinReplicas, spec.MaxReplicas = new(p.Min), p.Max
	if p.FromZero && slices.ContainsFunc(spec.Metrics, knownWithoutPods) {
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

// knownWithoutPods: the metric has a value where nothing runs.
func knownWithoutPods(m autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
}

// seconds is the window as a HorizontalPodAutoscaler accepts it.
func seconds(window time.Duration) int32 {
	return int32((min(window, time.Hour) + time.Second - 1) / time.Second)
}

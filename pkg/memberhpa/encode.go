// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"encoding/json"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	kind = "HorizontalPodAutoscaler"
	v2   = "autoscaling/v2"
	// v2beta2 is what clusters before Kubernetes 1.23 serve. Its JSON is that of v2, less what came later.
	v2beta2 = "autoscaling/v2beta2"
)

// Unsupported says that a HorizontalPodAutoscaler cannot be written in a version of its API.
type Unsupported struct {
	Version string
	// Field is what the version has no word for, as in spec.metrics[0].containerResource. Empty: it is no version that is
	// written here.
	Field string
}

// Error returns what to do, too.
func (u *Unsupported) Error() string {
	if u.Field == "" {
		return fmt.Sprintf("writing a HorizontalPodAutoscaler: the cluster offers version %q; it must serve %s or %s", u.Version, v2, v2beta2)
	}
	return fmt.Sprintf("writing a HorizontalPodAutoscaler: %s has no %s; use a Resource metric, or a cluster with Kubernetes 1.27 or later",
		u.Version, u.Field)
}

// applied is what of a HorizontalPodAutoscaler is sent.
type applied struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
}

// Encode returns the JSON of a server-side apply of hpa in autoscaling/v2 or autoscaling/v2beta2: name, namespace,
// labels, annotations and spec, uid and resourceVersion if it has them, which are then preconditions, and nothing
// else. The error is an [*Unsupported] where the version cannot say it; a
// tolerance, which v2beta2 does not know either, is left out there.
func Encode(hpa *autoscalingv2.HorizontalPodAutoscaler, version string) ([]byte, error) {
	body := applied{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: kind},
		ObjectMeta: metav1.ObjectMeta{Name: hpa.Name, Namespace: hpa.Namespace, UID: hpa.UID, ResourceVersion: hpa.ResourceVersion,
			Labels: hpa.Labels, Annotations: hpa.Annotations},
		Spec: hpa.Spec,
	}
	switch version {
	case v2:
	case v2beta2:
		for i, metric := range hpa.Spec.Metrics {
			if metric.ContainerResource != nil {
				return nil, &Unsupported{Version: version, Field: fmt.Sprintf("spec.metrics[%d].containerResource", i)}
			}
		}
		body.Spec = *hpa.Spec.DeepCopy()
		for _, rules := range directions(body.Spec.Behavior) {
			rules.Tolerance = nil
		}
	default:
		return nil, &Unsupported{Version: version}
	}
	return json.Marshal(body)
}

// directions are the rules that a behavior has.
func directions(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior) map[string]*autoscalingv2.HPAScalingRules {
	rules := map[string]*autoscalingv2.HPAScalingRules{}
	if behavior != nil && behavior.ScaleUp != nil {
		rules["scaleUp"] = behavior.ScaleUp
	}
	if behavior != nil && behavior.ScaleDown != nil {
		rules["scaleDown"] = behavior.ScaleDown
	}
	return rules
}

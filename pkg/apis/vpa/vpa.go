// SPDX-License-Identifier: Apache-2.0

// Package vpa has the part of a VerticalPodAutoscaler that says whom it governs. It stands in for the module of Kubernetes'
// autoscaler, of which nothing is linked: fleetscale reads these objects, and neither writes nor obeys them.
// Packages claims and members/workload do.
package vpa

import (
	"encoding/json"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Kind is how manifests name it.
	Kind = "VerticalPodAutoscaler"
	// Resource is how roles and paths do.
	Resource = "verticalpodautoscalers"

	// Checkpoints is how roles and paths name what it has learned.
	Checkpoints = "verticalpodautoscalercheckpoints"

	modeOff = "Off" // it only recommends
)

// SchemeGroupVersion is the group with the version that is read.
var SchemeGroupVersion = schema.GroupVersion{Group: "autoscaling.k8s.io", Version: "v1"}

// VerticalPodAutoscaler sizes the Pods of one workload of one cluster.
type VerticalPodAutoscaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// Spec is the part of its spec that is read. One that is not of this form names no workload.
type Spec struct {
	TargetRef    autoscalingv2.CrossVersionObjectReference `json:"targetRef"`
	UpdatePolicy UpdatePolicy                              `json:"updatePolicy"`
}

// UpdatePolicy says what becomes of its recommendations.
type UpdatePolicy struct {
	UpdateMode string `json:"updateMode,omitempty"` // empty: they are carried out
}

// VerticalPodAutoscalerList is a list of them.
type VerticalPodAutoscalerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VerticalPodAutoscaler `json:"items"`
}

// Acts reports whether it changes Pods. A mode that is not known does.
func (v *VerticalPodAutoscaler) Acts() bool { return v.Spec.UpdatePolicy.UpdateMode != modeOff }

// UnmarshalJSON reads what it can, and is never an error: one object must not hide all others of a list.
func (s *Spec) UnmarshalJSON(data []byte) error {
	type plain Spec
	var read plain
	_ = json.Unmarshal(data, &read) // continues after a value of another type
	*s = Spec(read)
	return nil
}

// DeepCopyObject implements [runtime.Object].
func (v *VerticalPodAutoscaler) DeepCopyObject() runtime.Object {
	out := *v
	v.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements [runtime.Object].
func (l *VerticalPodAutoscalerList) DeepCopyObject() runtime.Object {
	out := *l
	l.DeepCopyInto(&out.ListMeta)
	out.Items = make([]VerticalPodAutoscaler, len(l.Items))
	for i := range l.Items {
		out.Items[i] = l.Items[i]
		l.Items[i].DeepCopyInto(&out.Items[i].ObjectMeta)
	}
	return &out
}

// AddToScheme makes scheme know the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &VerticalPodAutoscaler{}, &VerticalPodAutoscalerList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

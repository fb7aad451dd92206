// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SizesExplanation is how the controller came to what it recommends for the fleet, in integers with which it can be computed again:
// thousandths of a core, and bytes. It is at most 8 KiB, and is written with the rest of the status, or when something else limits a size.
type SizesExplanation struct {
	// time is when the recommendation was computed.
	// Example: "2027-03-01T09:30:00.000000Z"
	// +required
	Time metav1.MicroTime `json:"time"`

	// sizes are those of each container and resource.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Sizes []SizeExplanation `json:"sizes,omitempty"`

	// omitted are so many sizes for which there is no room here.
	// Example: 2
	// +optional
	Omitted int32 `json:"omitted,omitempty"`
}

// SizeExplanation is why a container is to request so much of a resource.
type SizeExplanation struct {
	// containerName is the name of the container.
	// Example: app
	// +kubebuilder:validation:MaxLength=63
	// +required
	ContainerName string `json:"containerName"`

	// resource is cpu or memory.
	// Example: memory
	// +kubebuilder:validation:Enum=cpu;memory
	// +required
	Resource corev1.ResourceName `json:"resource"`

	// percentile is how many of a hundred samples the request covers. Samples of memory are the peaks of days.
	// Example: 90
	// +required
	Percentile int32 `json:"percentile"`

	// usage is what so many samples are below.
	// Example: 500
	// +required
	Usage int64 `json:"usage"`

	// marginPercent is how much of usage is added.
	// Example: 15
	// +optional
	MarginPercent int32 `json:"marginPercent,omitempty"`

	// podMinimum is the least of a Pod, which is divided among the containers that are sized.
	// Example: 25
	// +optional
	PodMinimum int64 `json:"podMinimum,omitempty"`

	// containers is how many containers are sized.
	// Example: 1
	// +required
	Containers int32 `json:"containers"`

	// before is what was recommended by use before: a cluster is silent, so nothing becomes less. Absent: all are heard.
	// Example: 600
	// +optional
	Before *int64 `json:"before,omitempty"`

	// byUse is what use calls for; see uncappedTarget of the recommendation.
	// Example: 575
	// +required
	ByUse int64 `json:"byUse"`

	// bounds are those that change that, in order.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Bounds []SizeBound `json:"bounds,omitempty"`

	// target is what the container should request. Absent: nothing is recommended, and limitedBy says why.
	// Example: 500
	// +optional
	Target *int64 `json:"target,omitempty"`

	// limitedBy is the last bound that changed the size; or Use, PodMinimum, or Before: what use called for before.
	// Example: MaxAllowed
	// +kubebuilder:validation:MaxLength=64
	// +required
	LimitedBy string `json:"limitedBy"`
}

// SizeBound is what one bound makes of a size.
type SizeBound struct {
	// reason is the bound, as in cappedBy of the recommendation. Least: the least that is legal.
	// Example: MaxAllowed
	// +kubebuilder:validation:MaxLength=64
	// +required
	Reason string `json:"reason"`

	// amount is the bound.
	// Example: 500
	// +required
	Amount int64 `json:"amount"`

	// least: amount is the least, and not the most.
	// +optional
	Least bool `json:"least,omitempty"`

	// size is what the bound leaves.
	// Example: 500
	// +required
	Size int64 `json:"size"`
}

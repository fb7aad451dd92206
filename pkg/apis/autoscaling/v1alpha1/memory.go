// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// StabilizationStatus is what the decision of central mode must know of the past. All times are the hub's. Each list has
// its oldest entry first; entries that no window reaches any more are dropped. Where a list is full, neighbours are
// joined into the one that restrains more.
type StabilizationStatus struct {
	// scaleUpRecommendations are the recommendations that may still be the lowest of the window of scaleUp. One goes when a
	// later one is as low, so replicas rise from entry to entry.
	// Example: [{time: "2027-03-01T09:30:00.000000Z", replicas: 12}]
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	ScaleUpRecommendations []Recommendation `json:"scaleUpRecommendations,omitempty"`

	// scaleDownRecommendations are the recommendations that may still be the highest of the window of scaleDown. One goes
	// when a later one is as high, so replicas fall from entry to entry.
	// Example: [{time: "2027-03-01T09:30:00.000000Z", replicas: 15}]
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	ScaleDownRecommendations []Recommendation `json:"scaleDownRecommendations,omitempty"`

	// scaleUpEvents are the replicas added, for the periods of the policies of scaleUp.
	// Example: [{time: "2027-03-01T09:30:00.000000Z", replicas: 3}]
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	ScaleUpEvents []ScaleEvent `json:"scaleUpEvents,omitempty"`

	// scaleDownEvents are the replicas taken away, for the periods of the policies of scaleDown.
	// Example: [{time: "2027-03-01T09:30:00.000000Z", replicas: 2}]
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	ScaleDownEvents []ScaleEvent `json:"scaleDownEvents,omitempty"`
}

// Recommendation is a number of replicas that the metrics called for.
type Recommendation struct {
	// time is when.
	// Example: "2027-03-01T09:30:00.000000Z"
	// +required
	Time metav1.MicroTime `json:"time"`

	// replicas is the number of replicas of the fleet.
	// Example: 12
	// +kubebuilder:validation:Minimum=0
	// +required
	Replicas int32 `json:"replicas"`
}

// ScaleEvent is a change of the fleet's replicas.
type ScaleEvent struct {
	// time is when.
	// Example: "2027-03-01T09:30:00.000000Z"
	// +required
	Time metav1.MicroTime `json:"time"`

	// replicas is by how many replicas the fleet changed, without a sign.
	// Example: 3
	// +kubebuilder:validation:Minimum=0
	// +required
	Replicas int32 `json:"replicas"`
}

// AssignmentStatus is what the movement of bounds and replicas between clusters must know of the past. All times are the
// hub's.
type AssignmentStatus struct {
	// unreachableMax is the number of replicas that the fleet may run beyond maxReplicas, because clusters that cannot be
	// read or written keep the bounds that they were given last. Absent: none.
	// Example: 4
	// +kubebuilder:validation:Minimum=0
	// +optional
	UnreachableMax *int32 `json:"unreachableMax,omitempty"`

	// keepsRunning is true while clusters may run more than their shares by staticWeight, because they did so before the
	// bounds were split for the first time. All get their shares as soon as no Pod needs to be deleted for that.
	// Example: true
	// +optional
	KeepsRunning bool `json:"keepsRunning,omitempty"`

	// underloadedSince is since when the load of the fleet has been below its target. Absent: it is not. Clusters are
	// emptied only after a whole stabilization window of it.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	UnderloadedSince *metav1.Time `json:"underloadedSince,omitempty"`

	// driftingSince is since when the clusters have been far from their shares. Absent: they are not.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	DriftingSince *metav1.Time `json:"driftingSince,omitempty"`

	// lastScaleFromZeroTime is when a cluster was last taken from 0 replicas. Absent: never.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	LastScaleFromZeroTime *metav1.Time `json:"lastScaleFromZeroTime,omitempty"`

	// lastRebalanceTime is when bounds or replicas were last moved between clusters to rebalance them. Absent: never.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	LastRebalanceTime *metav1.Time `json:"lastRebalanceTime,omitempty"`
}

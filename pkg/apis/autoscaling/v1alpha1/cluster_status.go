// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterStatus describes how one cluster takes part in a FederatedHPA.
type ClusterStatus struct {
	// name is the name of the cluster's registration.
	// Example: east
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// state describes how the cluster takes part.
	// Active: fully. Saturated: it cannot host more than it runs. ScaledToZero: it was taken to 0 replicas. Excluded: not
	// at all; reason explains why. Unreachable: it cannot be seen. Central mode: its replicas stay counted. Distributed mode: it
	// keeps its bounds, and the others get them after a grace. Conflict: another autoscaler
	// governs the workload there, and nothing is written.
	// Example: Active
	// +optional
	State ClusterState `json:"state,omitempty"`

	// since is when state last changed, by the hub's clock.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// reason is a one-word explanation of the state. Absent: the state needs none.
	// Example: Timeout
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Reason string `json:"reason,omitempty"`

	// message explains the reason in a sentence.
	// Example: no answer within 5s
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Message string `json:"message,omitempty"`

	// assignedReplicas is the number of replicas that the cluster was given. Distributed mode: with how many its workload is
	// to begin, or 0 if it is to end, while that has not been done yet.
	// Example: 5
	// +kubebuilder:validation:Minimum=0
	// +optional
	AssignedReplicas *int32 `json:"assignedReplicas,omitempty"`

	// assignedMin is the minReplicas of the cluster's HorizontalPodAutoscaler; 0: it has none. Distributed mode.
	// Example: 1
	// +kubebuilder:validation:Minimum=0
	// +optional
	AssignedMin *int32 `json:"assignedMin,omitempty"`

	// assignedMax is the maxReplicas of the cluster's HorizontalPodAutoscaler; 0: it has none. Distributed mode.
	// Example: 4
	// +kubebuilder:validation:Minimum=0
	// +optional
	AssignedMax *int32 `json:"assignedMax,omitempty"`

	// currentReplicas is the number of replicas that the cluster's workload was told to run.
	// Example: 4
	// +kubebuilder:validation:Minimum=0
	// +optional
	CurrentReplicas *int32 `json:"currentReplicas,omitempty"`

	// readyReplicas is the number of its Ready Pods, as last seen.
	// Example: 4
	// +kubebuilder:validation:Minimum=0
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// unschedulableReplicas is the number of its Pods that no node can take.
	// Example: 0
	// +kubebuilder:validation:Minimum=0
	// +optional
	UnschedulableReplicas *int32 `json:"unschedulableReplicas,omitempty"`

	// availableReplicas is the number of replicas of this workload that the cluster can host in all, those that run
	// included. Absent: not known.
	// Example: 20
	// +kubebuilder:validation:Minimum=0
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// metricAgeSeconds is the age, in seconds, of the oldest metric of the cluster that the last decision used, at the
	// time of that decision. Central mode. Absent: no metric of the cluster was used.
	// Example: 15
	// +optional
	MetricAgeSeconds *int32 `json:"metricAgeSeconds,omitempty"`

	// unmeasuredReplicas is the number of its Pods that run and that the last decision had no sample of, for the metric with the most
	// such Pods. They count as idle when scaling up, and as busy when scaling down. Central mode. Absent: no metric of Pods was used.
	// Example: 0
	// +kubebuilder:validation:Minimum=0
	// +optional
	UnmeasuredReplicas *int32 `json:"unmeasuredReplicas,omitempty"`

	// weight is the cluster's share in relation to the others, as used last. No unit.
	// Example: 2
	// +optional
	Weight *int64 `json:"weight,omitempty"`

	// priority is the cluster's priority, as used last. No unit; the highest comes first.
	// Example: 10
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// unschedulableSince is since when the cluster has had Pods that no node can take. Absent: it has none.
	// autoscaleMultiClusterDelay is counted from here.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	UnschedulableSince *metav1.Time `json:"unschedulableSince,omitempty"`

	// schedulableSince is since when a Saturated cluster could host more again. Absent: it cannot.
	// Example: "2027-03-01T09:40:00Z"
	// +optional
	SchedulableSince *metav1.Time `json:"schedulableSince,omitempty"`

	// saturatedFirst is when the cluster became Saturated for the first time of late. Where it is not known how much room the
	// cluster has, each further time lasts for as long again as the trouble has by then. Absent: it was not Saturated of late.
	// Example: "2027-03-01T09:31:00Z"
	// +optional
	SaturatedFirst *metav1.Time `json:"saturatedFirst,omitempty"`

	// hpaVersion is the API version in which the cluster's HorizontalPodAutoscaler is written. Distributed mode.
	// Example: autoscaling/v2
	// +kubebuilder:validation:MaxLength=64
	// +optional
	HPAVersion string `json:"hpaVersion,omitempty"`

	// hpa is the status of the cluster's HorizontalPodAutoscaler, as last seen. Distributed mode.
	// +optional
	HPA *autoscalingv2.HorizontalPodAutoscalerStatus `json:"hpa,omitempty"`
}

// ClusterState describes how a cluster takes part in a FederatedHPA.
//
// +kubebuilder:validation:Enum=Active;Saturated;ScaledToZero;Excluded;Unreachable;Conflict
type ClusterState string

// The states of a cluster.
const (
	ClusterActive       ClusterState = "Active"
	ClusterSaturated    ClusterState = "Saturated"
	ClusterScaledToZero ClusterState = "ScaledToZero"
	ClusterExcluded     ClusterState = "Excluded"
	ClusterUnreachable  ClusterState = "Unreachable"
	ClusterConflict     ClusterState = "Conflict"
)

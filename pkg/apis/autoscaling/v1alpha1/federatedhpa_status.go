// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FederatedHPAStatus has the fields of Kubernetes' HorizontalPodAutoscalerStatus, where replicas mean those of the whole
// fleet, and what is known of each cluster.
type FederatedHPAStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status speaks of.
	// Example: 3
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// lastScaleTime is when the replicas were last changed by this FederatedHPA; distributed mode: by the HorizontalPodAutoscaler of a
	// cluster. Absent: never.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// currentReplicas is the number of replicas that the fleet was set to run at the last reconcile.
	// Example: 12
	// +kubebuilder:validation:Minimum=0
	// +optional
	CurrentReplicas int32 `json:"currentReplicas"`

	// desiredReplicas is the number of replicas that the controller last decided on. Distributed mode: the sum of what
	// the HorizontalPodAutoscalers of the clusters desire.
	// Example: 15
	// +kubebuilder:validation:Minimum=0
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas"`

	// readyReplicas is the number of Ready Pods in all clusters; of a cluster that cannot be seen, as many as were last
	// seen. Absent: not counted yet.
	// Example: 11
	// +kubebuilder:validation:Minimum=0
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// currentMetrics are the metrics as last read, in the order of spec.metrics. A metric that could not be read has an
	// entry with an empty type.
	// Example: [{type: Resource, resource: {name: cpu, current: {averageUtilization: 63, averageValue: 126m}}}]
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	CurrentMetrics []autoscalingv2.MetricStatus `json:"currentMetrics,omitempty"`

	// conditions report whether the FederatedHPA can do its work, and if not, why. AbleToScale, ScalingActive, ScalingLimited
	// and ScaledToZero mean what they mean in a HorizontalPodAutoscaler, and in distributed mode sum up those of the clusters.
	// FleetVisible is False while a cluster cannot be seen. Central mode: meanwhile nothing is scaled down in any cluster.
	// Distributed mode: meanwhile each cluster continues to scale, up and down, within the bounds that it has. PreferenceUnmatched is
	// True while an entry of clusterAutoscalingPreference selects no cluster, MinThresholdNotMet while a cluster gets less than its
	// autoscalingMinThreshold, PendingNotMovable while Pods of a StatefulSet find no node and cannot go to another cluster,
	// ClockSkewed while the clock of a cluster is a minute or more from the hub's. Propagated, in central mode, is False while the
	// members do not run what the workload on the hub asks for, since nobody propagates it to them; it is True, ScaledInMembers,
	// while the hub has no such workload and each cluster that has it is scaled. Acting is False while spec.mode is Observe, and
	// says what would be done, or Paused.
	// Example: [{type: FleetVisible, status: "False", reason: ClusterUnreachable, message: "west: timeout"}]
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []autoscalingv2.HorizontalPodAutoscalerCondition `json:"conditions,omitempty"`

	// clusters say how each cluster takes part, in the order of their names.
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	// +optional
	Clusters []ClusterStatus `json:"clusters,omitempty"`

	// summary is the status in a few words, for `kubectl get`.
	// +optional
	Summary *FederatedHPASummary `json:"summary,omitempty"`

	// stabilization is the memory of central mode: what the stabilization windows and scaling policies of spec.behavior
	// need to know of the past. Kept here so that it outlives the controller's process.
	// +optional
	Stabilization *StabilizationStatus `json:"stabilization,omitempty"`

	// explanation is how the last decision that was stored was come to.
	// +optional
	Explanation *DecisionExplanation `json:"explanation,omitempty"`

	// assignment is the memory of how bounds and replicas move between clusters. Kept here so that it outlives the
	// controller's process.
	// +optional
	Assignment *AssignmentStatus `json:"assignment,omitempty"`
}

// Conditions of a FederatedHPA, besides those of a HorizontalPodAutoscaler.
const (
	// FleetVisible is True if Pods and metrics of every cluster that takes part are known. While it is False, nothing is scaled
	// down in central mode; in distributed mode clusters keep their bounds and continue to scale within them.
	FleetVisible autoscalingv2.HorizontalPodAutoscalerConditionType = "FleetVisible"
	// CapacityUnknown is True if no cluster's capacity is known, so that all count the same.
	CapacityUnknown autoscalingv2.HorizontalPodAutoscalerConditionType = "CapacityUnknown"
	// MaxNotAssignable is True if the thresholds of the clusters leave a part of maxReplicas to nobody.
	MaxNotAssignable autoscalingv2.HorizontalPodAutoscalerConditionType = "MaxNotAssignable"
	// MinThresholdNotMet is True if a cluster gets less than its autoscalingMinThreshold: in distributed mode of maxReplicas, in
	// central mode of the replicas that the fleet runs now.
	MinThresholdNotMet autoscalingv2.HorizontalPodAutoscalerConditionType = "MinThresholdNotMet"
	// AllClustersSaturated is True if no cluster can take what another one cannot host.
	AllClustersSaturated autoscalingv2.HorizontalPodAutoscalerConditionType = "AllClustersSaturated"
	// PendingNotMovable is True if Pods of a cluster have found no node for autoscaleMultiClusterDelay, and their replicas cannot go to
	// other clusters, as the workload is a StatefulSet that would lose other Pods (podManagementPolicy: Parallel).
	PendingNotMovable autoscalingv2.HorizontalPodAutoscalerConditionType = "PendingNotMovable"
	// PreferenceUnmatched is True if an entry of clusterAutoscalingPreference selects none of the clusters, so that it has no
	// effect.
	PreferenceUnmatched autoscalingv2.HorizontalPodAutoscalerConditionType = "PreferenceUnmatched"
	// ClockSkewed is True if the clock of a cluster is so far from the hub's that it is not believed.
	ClockSkewed autoscalingv2.HorizontalPodAutoscalerConditionType = "ClockSkewed"
	// Propagated is False if, in central mode without replicaDistribution, the members do not run as many replicas as the
	// workload on the hub asks for, and have not moved towards it for some minutes: nobody propagates it. It is True where the
	// hub has no such workload, so that each cluster is told its replicas.
	Propagated autoscalingv2.HorizontalPodAutoscalerConditionType = "Propagated"
	// Acting is False if spec.mode is Observe or Paused: what is decided is only reported, or nothing is decided.
	Acting autoscalingv2.HorizontalPodAutoscalerConditionType = "Acting"
	// MetricNotSupported is True if a cluster is too old for a metric of the spec; it gets no HorizontalPodAutoscaler.
	MetricNotSupported autoscalingv2.HorizontalPodAutoscalerConditionType = "MetricNotSupported"
)

// FederatedHPASummary is what `kubectl get` shows and could not compute.
type FederatedHPASummary struct {
	// targets are the metrics as current/goal, in the order of spec.metrics.
	// Example: "cpu: 63%/80%, requests: 120/100 (avg)"
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Targets string `json:"targets,omitempty"`

	// clusters is the number of clusters whose Pods and metrics are known, of those that take part.
	// Example: 2/3
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Clusters string `json:"clusters,omitempty"`

	// state is what the FederatedHPA is doing.
	// Active: it follows the metrics. Limited: it would go beyond minReplicas, maxReplicas or a scaling policy; distributed mode: a
	// cluster would go beyond its bounds or a policy. Held: a cluster cannot be seen; central mode: and the fleet would otherwise be
	// scaled down; distributed mode: so bounds do not move, while clusters scale within theirs. Observing: spec.mode is Observe.
	// Paused: spec.mode is Paused, or nothing runs, which switches scaling off.
	// Failing: it cannot scale, or nobody propagates what it scales; the conditions say why.
	// Example: Active
	// +optional
	State FederatedHPAState `json:"state,omitempty"`
}

// FederatedHPAState is what a FederatedHPA is doing, in one word.
//
// +kubebuilder:validation:Enum=Active;Limited;Held;Observing;Paused;Failing
type FederatedHPAState string

// The states of a FederatedHPA.
const (
	StateActive    FederatedHPAState = "Active"
	StateLimited   FederatedHPAState = "Limited"
	StateHeld      FederatedHPAState = "Held"
	StateObserving FederatedHPAState = "Observing"
	StatePaused    FederatedHPAState = "Paused"
	StateFailing   FederatedHPAState = "Failing"
)

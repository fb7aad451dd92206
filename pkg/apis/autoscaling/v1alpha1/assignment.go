// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// FederatedHPAAssignment specifies how the minReplicas and maxReplicas of the fleet are split into one
// HorizontalPodAutoscaler for each cluster.
type FederatedHPAAssignment struct {
	// federatedHPAAssignmentType is the rule of the split.
	// Duplicated: every cluster gets minReplicas and maxReplicas whole.
	// StaticWeighted: in proportion to staticWeight; equally, if no weights are given.
	// DynamicWeighted: in proportion to the replicas that each cluster can host.
	// Aggregated: into as few clusters as can host them.
	// Prioritized: into the cluster of the highest priority as far as it can host them, then into the next.
	// Default: Duplicated.
	// Example: Prioritized
	// +kubebuilder:default=Duplicated
	// +optional
	FederatedHPAAssignmentType FederatedHPAAssignmentType `json:"federatedHPAAssignmentType,omitempty"`

	// clusterAutoscalingPreference gives clusters weights, priorities and bounds of their own. If several entries select
	// one cluster, the highest weight, priority and thresholds hold. With StaticWeighted and Prioritized, a cluster that
	// no entry selects takes no part, provided there are entries.
	// Example: [{targetCluster: {clusterNames: [east]}, staticWeight: 2}]
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +optional
	ClusterAutoscalingPreference []TargetClusterAutoscalingPreference `json:"clusterAutoscalingPreference,omitzero"`

	// distributionOrder specifies which bound is split first. MaxFirst: maxReplicas; a cluster that gets a part of it gets at
	// least 1 of minReplicas. MinFirst: minReplicas; a cluster that gets none of it gets no HorizontalPodAutoscaler, so
	// with minReplicas 1 a single cluster takes part. No effect with Duplicated. Default: MaxFirst.
	// Example: MinFirst
	// +kubebuilder:default=MaxFirst
	// +optional
	DistributionOrder DistributionOrder `json:"distributionOrder,omitempty"`

	// rebalance controls whether and how bounds move between clusters later. Absent: strategy Capacity for DynamicWeighted,
	// Aggregated and Prioritized, and None for Duplicated and StaticWeighted.
	// Example: {strategy: Demand}
	// +optional
	Rebalance *Rebalance `json:"rebalance,omitempty"`

	// scaleDownOrder, with Prioritized, is the order in which clusters shrink. Strict: a cluster keeps its replicas until
	// all clusters of lower priority are at their minimum; the hub enforces it. BestEffort: clusters of higher priority
	// wait longer before they shrink; works while the hub is away, but the order is not certain. Default: Strict.
	// Example: BestEffort
	// +optional
	ScaleDownOrder ScaleDownOrder `json:"scaleDownOrder,omitempty"`
}

// FederatedHPAAssignmentType is a rule by which the fleet's bounds are split.
//
// +kubebuilder:validation:Enum=Duplicated;StaticWeighted;DynamicWeighted;Aggregated;Prioritized
type FederatedHPAAssignmentType string

const (
	// AssignmentDuplicated gives every cluster the whole bounds.
	AssignmentDuplicated FederatedHPAAssignmentType = "Duplicated"
	// AssignmentStaticWeighted splits in proportion to given weights.
	AssignmentStaticWeighted FederatedHPAAssignmentType = "StaticWeighted"
	// AssignmentDynamicWeighted splits in proportion to what clusters can host.
	AssignmentDynamicWeighted FederatedHPAAssignmentType = "DynamicWeighted"
	// AssignmentAggregated fills as few clusters as can host the replicas.
	AssignmentAggregated FederatedHPAAssignmentType = "Aggregated"
	// AssignmentPrioritized fills clusters in the order of their priority, the highest first.
	AssignmentPrioritized FederatedHPAAssignmentType = "Prioritized"
)

// TargetClusterAutoscalingPreference gives the clusters that it selects a weight, a priority and bounds. Each holds for
// every selected cluster, not for their sum.
//
// +kubebuilder:validation:XValidation:rule="!has(self.autoscalingMinThreshold) || !has(self.autoscalingMaxThreshold) || self.autoscalingMinThreshold <= self.autoscalingMaxThreshold",fieldPath=".autoscalingMaxThreshold",message="must be greater than or equal to `autoscalingMinThreshold`"
type TargetClusterAutoscalingPreference struct {
	// targetCluster selects the clusters. {} selects all.
	// Example: {clusterNames: [east]}
	// +required
	TargetCluster *ClusterAffinity `json:"targetCluster"`

	// staticWeight is the share of a cluster in relation to the others. No unit; from 0 (no share) to 1000. With type
	// StaticWeighted only. Absent: 0; if all are 0, all clusters weigh the same.
	// Example: 2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +optional
	StaticWeight *int32 `json:"staticWeight,omitempty"`

	// priority is the place of a cluster among the others; the highest is filled first and emptied last. No unit. With
	// type Prioritized only. Absent: 0.
	// Example: 10
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// autoscalingMinThreshold is the number of replicas that each selected cluster gets before the rest is split: of maxReplicas with
	// federatedHPAAssignment, of what the fleet runs with replicaDistribution. A cluster that gets less, as there are not enough, is
	// named by the condition MinThresholdNotMet. Without effect with type Duplicated. The sum over all entries may not exceed
	// maxReplicas. Absent: 0.
	// Example: 1
	// +kubebuilder:validation:Minimum=0
	// +optional
	AutoscalingMinThreshold *int32 `json:"autoscalingMinThreshold,omitempty"`

	// autoscalingMaxThreshold is the number of replicas that no selected cluster exceeds. Absent: no limit of its own.
	// Example: 20
	// +kubebuilder:validation:Minimum=0
	// +optional
	AutoscalingMaxThreshold *int32 `json:"autoscalingMaxThreshold,omitempty"`
}

// DistributionOrder specifies which of the fleet's bounds is split first.
//
// +kubebuilder:validation:Enum=MaxFirst;MinFirst
type DistributionOrder string

const (
	// DistributionMaxFirst splits maxReplicas first.
	DistributionMaxFirst DistributionOrder = "MaxFirst"
	// DistributionMinFirst splits minReplicas first.
	DistributionMinFirst DistributionOrder = "MinFirst"
)

// ScaleDownOrder is the order in which clusters shrink.
//
// +kubebuilder:validation:Enum=Strict;BestEffort
type ScaleDownOrder string

const (
	// ScaleDownStrict holds a cluster until those of lower priority are at their minimum.
	ScaleDownStrict ScaleDownOrder = "Strict"
	// ScaleDownBestEffort makes clusters of higher priority wait longer.
	ScaleDownBestEffort ScaleDownOrder = "BestEffort"
)

// Rebalance specifies how bounds move between clusters after the first split. Their sum stays the same.
type Rebalance struct {
	// strategy specifies why bounds move. None: nothing. Capacity: they move to clusters that can host more replicas.
	// Demand: they move from clusters that do not need them to clusters that want more than their maximum. Absent: by
	// the type of the split, as said at rebalance.
	// Example: Demand
	// +optional
	Strategy RebalanceStrategy `json:"strategy,omitempty"`

	// intervalSeconds is the least time, in seconds, between two moves. From 15 to 86400. Default: 300.
	// Example: 600
	// +kubebuilder:validation:Minimum=15
	// +kubebuilder:validation:Maximum=86400
	// +kubebuilder:default=300
	// +optional
	IntervalSeconds *int32 `json:"intervalSeconds,omitempty"`

	// minUtilizationPercent, with strategy Demand, is the percentage of its target below which a cluster at its minimum
	// gives a part of that minimum away. From 0 (never) to 100. Default: 50.
	// Example: 30
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=50
	// +optional
	MinUtilizationPercent *int32 `json:"minUtilizationPercent,omitempty"`
}

// RebalanceStrategy specifies why bounds move between clusters.
//
// +kubebuilder:validation:Enum=None;Capacity;Demand
type RebalanceStrategy string

const (
	// RebalanceNone moves nothing.
	RebalanceNone RebalanceStrategy = "None"
	// RebalanceCapacity follows what clusters can host.
	RebalanceCapacity RebalanceStrategy = "Capacity"
	// RebalanceDemand follows what clusters want.
	RebalanceDemand RebalanceStrategy = "Demand"
)

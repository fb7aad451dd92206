// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ReplicaDistribution specifies how the replicas that the hub computed are divided among the clusters. Running Pods are not
// moved: only what is added or taken away is divided, so that the clusters come nearer to their shares.
type ReplicaDistribution struct {
	// type is the rule of the division.
	// StaticWeighted: in proportion to staticWeight; equally, if no weights are given.
	// DynamicWeighted: in proportion to the replicas that each cluster can host.
	// LoadWeighted: in proportion to the load that each cluster carries.
	// Aggregated: into as few clusters as can host them.
	// Prioritized: into the cluster of the highest priority as far as it can host them, then into the next.
	// Default: StaticWeighted.
	// Example: LoadWeighted
	// +kubebuilder:default=StaticWeighted
	// +optional
	Type ReplicaDistributionType `json:"type,omitempty"`

	// clusterAutoscalingPreference gives clusters weights, priorities and bounds of their own. If several entries select
	// one cluster, the highest weight, priority and thresholds hold. With StaticWeighted and Prioritized, a cluster that
	// no entry selects takes no part, provided there are entries.
	// Example: [{targetCluster: {clusterNames: [east]}, staticWeight: 2}]
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +optional
	ClusterAutoscalingPreference []TargetClusterAutoscalingPreference `json:"clusterAutoscalingPreference,omitzero"`

	// rebalance makes running replicas move, a few at a time, when the clusters have been more than 10 % of all replicas
	// away from their shares for 300 seconds. A replica is taken away only once the one that replaces it is Ready.
	// Default: false.
	// Example: true
	// +optional
	Rebalance *bool `json:"rebalance,omitempty"`
}

// ReplicaDistributionType is a rule by which replicas are divided among clusters.
//
// +kubebuilder:validation:Enum=StaticWeighted;DynamicWeighted;LoadWeighted;Aggregated;Prioritized
type ReplicaDistributionType string

const (
	// DistributionStaticWeighted divides in proportion to given weights.
	DistributionStaticWeighted ReplicaDistributionType = "StaticWeighted"
	// DistributionDynamicWeighted divides in proportion to what clusters can host.
	DistributionDynamicWeighted ReplicaDistributionType = "DynamicWeighted"
	// DistributionLoadWeighted divides in proportion to the load that clusters carry.
	DistributionLoadWeighted ReplicaDistributionType = "LoadWeighted"
	// DistributionAggregated fills as few clusters as can host the replicas.
	DistributionAggregated ReplicaDistributionType = "Aggregated"
	// DistributionPrioritized fills clusters in the order of their priority, the highest first.
	DistributionPrioritized ReplicaDistributionType = "Prioritized"
)

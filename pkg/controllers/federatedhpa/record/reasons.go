// SPDX-License-Identifier: Apache-2.0

package record

// Reasons of clusters, conditions and Events that both modes have.
const (
	// ReasonTargetNotFound: the cluster does not have the workload, or cannot scale its kind.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonNotPreferred: there are preferences, and none selects the cluster.
	ReasonNotPreferred = "NotPreferred"
	// ReasonScaledByOthers: another autoscaler scales the workload there.
	ReasonScaledByOthers = "ScaledByOthers"
	// ReasonUnschedulable: Pods of the workload find no node there.
	ReasonUnschedulable = "Unschedulable"
	// ReasonScaleUndone: the replicas, or bounds, that are written are set back each time.
	ReasonScaleUndone = "ScaleUndone"
	// ReasonSelectsNoCluster: an entry of the preferences selects none of the clusters.
	ReasonSelectsNoCluster = "SelectsNoCluster"
	// ReasonInvalidSpec: something in the spec cannot be read.
	ReasonInvalidSpec = "InvalidSpec"

	// EventClusterChanged: the state of a cluster has changed.
	EventClusterChanged = "ClusterStateChanged"
	// EventFailedUpdateStatus: the status could not be stored.
	EventFailedUpdateStatus = "FailedUpdateStatus"
)

// SPDX-License-Identifier: Apache-2.0

package distributed

// Reasons of clusters, conditions and Events, beside the actions of package assignment and the reasons of package fleet.
const (
	// reasonNotSelected: neither affinity nor placement name the cluster any more.
	reasonNotSelected = "NotSelected"
	// reasonNotPreferred: there are preferences, and none selects the cluster.
	reasonNotPreferred = "NotPreferred"
	// reasonSelectsNoCluster: an entry of the preferences selects none of the clusters.
	reasonSelectsNoCluster = "SelectsNoCluster"
	// reasonScaledByOthers: another autoscaler scales the workload there, or has the name of ours.
	reasonScaledByOthers = "ScaledByOthers"
	// reasonTargetNotFound: the cluster does not have the workload, and the hub has no template of it.
	reasonTargetNotFound = "TargetNotFound"
	// reasonNoSelector: the workload does not say which Pods are its own.
	reasonNoSelector = "SelectorRequired"
	// reasonNoShare: the split leaves nothing to the cluster.
	reasonNoShare = "NoShare"
	// reasonUnschedulable: Pods of the workload find no node there.
	reasonUnschedulable = "Unschedulable"
	// reasonFailedWrite: the cluster refuses what we write.
	reasonFailedWrite = "FailedWrite"
	// reasonNotSupported: the cluster is too old for a part of the spec.
	reasonNotSupported = "MetricNotSupported"
	// reasonRetainReplicas: Karmada would write the replicas, too.
	reasonRetainReplicas = "RetainReplicasMissing"
	// reasonNoClusters: no cluster takes part.
	reasonNoClusters = "NoClusters"
	// reasonInvalidSpec: something in the spec can not be read.
	reasonInvalidSpec = "InvalidSpec"
	// reasonFailedReadHub: the workload on the hub, or where it is placed, can not be read.
	reasonFailedReadHub = "FailedReadHub"
	// reasonWaiting: the object cannot go yet, or not into central mode.
	reasonWaiting = "WaitingForClusters"
	// reasonSpecCut: the object has lost its mode, and its owner has not changed it.
	reasonSpecCut = "SpecCut"

	// eventClusterChanged: a cluster takes part in another way than before.
	eventClusterChanged = "ClusterStateChanged"
	// eventClusterRemoved: a cluster with an autoscaler of ours is not registered any more.
	eventClusterRemoved = "ClusterRemoved"
	// eventWorkloadMade and eventWorkloadRemoved: a cluster got the workload from us, or lost it again.
	eventWorkloadMade    = "WorkloadCreated"
	eventWorkloadRemoved = "WorkloadDeleted"
	// eventFailedUpdateStatus: the intent could not be stored, so that nothing was done.
	eventFailedUpdateStatus = "FailedUpdateStatus"
)

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

// Reasons of clusters and Events, beside those of package replicas, of package fleet and of package member.
const (
	// reasonTargetNotFound: the cluster does not have the workload, or can not scale its kind.
	reasonTargetNotFound = "TargetNotFound"
	// reasonNotPreferred: there are preferences, and none selects the cluster.
	reasonNotPreferred = "NotPreferred"
	// reasonScaledByOthers: another autoscaler scales the workload there.
	reasonScaledByOthers = "ScaledByOthers"
	// reasonUnschedulable: Pods of the workload find no node there.
	reasonUnschedulable = "Unschedulable"
	// reasonFailedUpdateScale: the cluster could not be told its replicas.
	reasonFailedUpdateScale = "FailedUpdateScale"
	// reasonThresholds: the clusters may not run more.
	reasonThresholds = "Thresholds"
	// reasonNoRoom: no cluster is known to have room.
	reasonNoRoom = "NoRoom"
	// reasonRoom: some cluster has.
	reasonRoom = "Room"
	// reasonSelectsNoCluster: an entry of the preferences selects none of the clusters.
	reasonSelectsNoCluster = "SelectsNoCluster"
	// reasonAllMatched: every entry selects one.
	reasonAllMatched = "AllMatched"
	// reasonNotPropagated: members do not follow the workload on the hub. It is that of an Event, too.
	reasonNotPropagated = "NotPropagated"
	// reasonPropagated: they do.
	reasonPropagated = "MembersFollow"

	// eventMoved: replicas went from one cluster to another.
	eventMoved = "ReplicasMoved"
	// eventClusterChanged: a cluster takes part in another way than before.
	eventClusterChanged = "ClusterStateChanged"
	// eventAnotherController: somebody else writes the status too, so nothing is done.
	eventAnotherController = "AnotherController"
	// eventFailedUpdateStatus: what was decided and done could not be stored in the status.
	eventFailedUpdateStatus = "FailedUpdateStatus"
)

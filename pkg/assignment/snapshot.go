// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Snapshot is everything that the next step of distributed mode depends on.
type Snapshot struct {
	Policy         Policy // not LoadWeighted
	UID            string // of the FederatedHPA; decides among equals
	Min, Max       int32  // of the whole fleet
	Order          v1alpha1.DistributionOrder
	ScaleDownOrder v1alpha1.ScaleDownOrder
	Rebalance      v1alpha1.Rebalance // complete: see FederatedHPAAssignment.RebalanceOrDefault
	// ScalingToZero: the hub takes clusters to zero and back.
	ScalingToZero bool
	// Delay is how long Pods must be unschedulable before other clusters get their share.
	Delay time.Duration
	// Window is how long the load must have been low before a cluster is emptied: the stabilization window of scaleDown.
	Window time.Duration
	// Tolerance is the part of its target, in thousandths, that the load may be away from it.
	Tolerance int64
	// Grace is how long a cluster is silent before the others take its place over.
	Grace time.Duration
	// Rest is how long the bounds of a site do not follow its demand after its autoscaler has scaled it.
	Rest time.Duration
	// WindowStep is how much longer a site waits before it shrinks, with BestEffort, for each priority below its own.
	WindowStep time.Duration

	// Changed: the spec is not the one that the bounds were split for, or they never were.
	Changed bool
	// Wanted: nothing runs, and the hub's own reading of the metrics says that something should.
	Wanted bool
	Sites  []Site // in any order
	Memory v1alpha1.AssignmentStatus
	Now    time.Time
}

// Presence is whether a cluster takes part.
type Presence int

const (
	// Present: it takes part, and its autoscaler, workload and Pods have been read for this snapshot.
	Present Presence = iota
	// Silent: it takes part, but could not be read. Site.Since is since when, provided the state is Unreachable.
	Silent
	// Refusing: it takes part and was read, but refuses bounds that are written to it. It keeps what it has.
	Refusing
	// Leaving: it takes part no more.
	Leaving
)

// Site is one cluster as it is. What was read of it is from this snapshot if it is present, otherwise from the last one.
type Site struct {
	Name string // unique
	Preference
	Presence Presence
	// Standing is how it takes part, by its taints.
	Standing taints.Standing
	// State and Since are what the last step said of them; at first empty.
	State v1alpha1.ClusterState
	Since time.Time
	// Min and Max are the bounds that the last step gave; both 0: no autoscaler.
	Min, Max int32
	// Stands is the maximum that its autoscaler has; 0: there is none. It is not Max while the last step is not carried out.
	Stands int32
	// Ordered is what the last step told its workload to run, where that has not come true; otherwise nil.
	Ordered *int32
	// Asleep: it runs nothing, and that was the hub's doing, before it went out of sight. While it is in sight State says so.
	Asleep bool
	// Balks: its workload refused lately to be scaled.
	Balks bool
	// GivenUp: it has refused for so long that the others wait for it no more.
	GivenUp bool
	// Recovered: it refused what was written to it, or was cordoned or drained, and is that no more.
	Recovered bool
	// Current is the number of replicas that the workload is told to run.
	Current int32
	// Ready is the number of its Pods that are.
	Ready int32
	// Unschedulable are those of its Pods that no node can take, and UnschedulableSince is since when the oldest is that.
	Unschedulable      int32
	UnschedulableSince *time.Time
	// Additional is how many more replicas the cluster can host. Nil: not known.
	Additional *int32
	// Promised are those of them for which the cluster would have to add nodes.
	Promised int32
	// SchedulableSince and SaturatedFirst are what the last step said of them.
	SchedulableSince, SaturatedFirst *time.Time
	Autoscaler
}

// Autoscaler is what the status of a cluster's HorizontalPodAutoscaler says.
type Autoscaler struct {
	Desired int32
	// ScalingActive is the condition of that name.
	ScalingActive bool
	// TooManyReplicas: it would go beyond its maximum.
	TooManyReplicas bool
	// Steady: it has desired what runs in the last two observations.
	Steady bool
	// LastScale is when it last changed the replicas; nil: never.
	LastScale *time.Time
	// Ratios are the metrics of the spec over their targets, in thousandths, rounded up. Nil: not all are known.
	Ratios []int64
}

// Action names what a step does; it is the reason of the event that tells of it.
type Action string

// The actions, in the order in which they are tried. A step is of one action; empty: nothing is to be done.
const (
	// Initialized: the bounds were split for a spec, or again for other clusters.
	Initialized Action = "BoundsSplit"
	// FailedOver: clusters took the bounds of others over, or gave them back.
	FailedOver Action = "BoundsTakenOver"
	// Spilled: the part of a maximum that its cluster cannot host went to others.
	Spilled Action = "MaximumSpilled"
	// Drained: a cluster of low priority was emptied before one of a higher priority.
	Drained Action = "LowPriorityDrained"
	// Woken: clusters were scaled from zero.
	Woken Action = "ScaledFromZero"
	// Slept: a cluster was scaled to zero.
	Slept Action = "ScaledToZero"
	// MinimumMoved: the minimum of a cluster at zero went to those that run.
	MinimumMoved Action = "MinimumMoved"
	// CapacityFollowed: maxima went where they can be hosted.
	CapacityFollowed Action = "MaximumMovedToCapacity"
	// DemandFollowed: bounds went from where they are not needed to where they are.
	DemandFollowed Action = "BoundsMovedToDemand"
)

// Step is what is to be done next, and what the next snapshot must know of it.
type Step struct {
	Action Action
	Sites  map[string]SiteStep // of every site of the snapshot
	Memory v1alpha1.AssignmentStatus
	// Still: nothing moves for the sake of clusters that are away, or while the maxima are more than the fleet's.
	Still bool
	// AllSaturated: a cluster cannot host its replicas, and no other can take them.
	AllSaturated bool
	// Unassigned is the part of Max that the ceilings of the clusters leave to nobody.
	Unassigned int32
	// Unweighted: no cluster has a weight (or capacity, by the policy), so all weigh the same.
	Unweighted bool
	// Incomplete: a cluster kept bounds that the split would change; say Changed again when other clusters keep theirs.
	Incomplete bool
}

// SiteStep is what one cluster is to be.
type SiteStep struct {
	// Min and Max are the bounds of its autoscaler; both 0: it gets none of ours. Of a silent cluster they are what
	// it had. All decreases must be written before the first increase.
	Min, Max int32
	// Share is the maximum that a refusing cluster would get if it took it.
	Share int32
	// Bumped: Min is 1 only because a HorizontalPodAutoscaler needs it to be. One that can scale to zero may have 0.
	Bumped bool
	// Scale is what its workload is to be told to run, from zero or to zero. Nil: the replicas are not written.
	Scale *int32
	// Hold: it does not scale down for now (selectPolicy Disabled).
	Hold bool
	// Window is how long its autoscaler waits before it scales down, if that is not what the spec says; otherwise 0.
	Window time.Duration
	State  v1alpha1.ClusterState
	Since  time.Time
	// SchedulableSince is since when a saturated cluster could host more again; nil: it cannot.
	SchedulableSince *time.Time
	// SaturatedFirst is when it became saturated for the first time of late; nil: it was not.
	SaturatedFirst *time.Time
}

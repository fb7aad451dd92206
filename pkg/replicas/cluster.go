// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Cluster is one cluster where the workload is placed, and what is known of the workload there.
type Cluster struct {
	// Name is the member's.
	Name string
	// Silent is why the cluster's Pods cannot be seen now; then Pods are as they were last. Nil: they are seen.
	Silent *fleet.Silence
	// Drained says that nobody waits for the cluster: while it cannot be seen its Pods stay counted, and hold nothing up.
	Drained bool
	// Pods are those that the workload's selector matches there, in any order, each name once.
	Pods []Pod
	// LastReady is the number of Ready Pods last seen, for a Silent cluster whose Pods are no longer known.
	LastReady int32
	// Assigned is how many replicas the cluster was told to run, in the same placement as Pods; 0: it is being drained.
	// Nil: not known. Not used of a single cluster.
	Assigned *int32
	// Replicas is status.replicas there, or its last known value. Nil: not known.
	Replicas *int32
	// Lagging says that the workload there has not yet observed what it was told last.
	Lagging bool
	// Selector is status.selector of the workload there; empty: as that of the whole.
	Selector string
	// Autoscalers are the names of those whose selectors match Pods there, this one among them, if they are several.
	Autoscalers []string
	// ClockOffset is the cluster's time minus the hub's, within what the caller finds credible. Not used of a single
	// cluster.
	ClockOffset time.Duration
}

// Pod is what a decision must know of a Pod.
type Pod struct {
	Name  string
	Phase corev1.PodPhase
	// Terminating says that it has a deletion timestamp.
	Terminating bool
	// Ready is its condition of that name; the zero value: it has none.
	Ready Ready
	// Started is status.startTime; zero: not started.
	Started time.Time
	// Requests may be shared by all Pods of a template.
	Requests *Requests
}

// Ready is the Ready condition of a Pod.
type Ready struct {
	Status corev1.ConditionStatus
	// Since is its last transition.
	Since time.Time
}

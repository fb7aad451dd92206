// SPDX-License-Identifier: Apache-2.0

// Package sight is the fleet as one reconcile of a FederatedHPA sees it: which clusters it selects, and what is known of
// the workload in each. It is read once, in a few steps that both modes share, and not changed afterwards; what follows
// from it is decided elsewhere.
package sight

import (
	"iter"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// Sight is what is seen for one object at one time.
type Sight struct {
	// Object has its defaults. Its status is the one stored last.
	Object *v1alpha1.FederatedHPA
	Now    time.Time
	// Clusters are those that the object selects, and those that its status names, in name order.
	Clusters []Cluster
	// Rule is how somebody else brings the workload to the clusters.
	Rule placement.Rule
	// Deregistered are clusters that the status names, and that are no longer registered.
	Deregistered []v1alpha1.ClusterStatus
}

// Cluster is one member cluster. What was not read is nil.
type Cluster struct {
	selection.Candidate
	// Before is what the status says of it.
	Before v1alpha1.ClusterStatus
	// Preference is the cluster's place in a split; Preferred is false where there are preferences and none selects it.
	Preference assignment.Preference
	Preferred  bool
	// ClockOffset is the cluster's time minus ours.
	ClockOffset time.Duration
	// Silence is why the cluster, or its workload's scale, cannot be read; nil: it can.
	Silence *fleet.Silence

	// Autoscalers are the HorizontalPodAutoscalers of the namespace.
	Autoscalers workload.Autoscalers
	// Scale is the workload's there, and Absent why there is none.
	Scale  *autoscalingv1.Scale
	Absent error
	// Pods are the workload's.
	Pods pods.Listing
	// Stuck is why replicas that find no node cannot be taken from the workload there; empty: they can, or none wait.
	Stuck string
	// Additional is how many more replicas there is room for, beside the Pods that there are; nil: that is not known. Promised are those
	// of them for which the cluster would have to add nodes.
	Additional *int32
	Promised   int32
}

// Skewed are the selected clusters whose clocks are too far from ours to be believed, and which way.
func (s *Sight) Skewed() []string {
	var each []string
	for c := range Pointers(s.Clusters) {
		switch {
		case !c.Selected || c.ClockOffset.Abs() < connection.MostClockOffset:
		case c.ClockOffset > 0:
			each = append(each, c.Facts.Name+" (ahead)")
		default:
			each = append(each, c.Facts.Name+" (behind)")
		}
	}
	return each
}

// Facts returns those of the selected clusters.
func (s *Sight) Facts() []assignment.ClusterFacts {
	facts := make([]assignment.ClusterFacts, 0, len(s.Clusters))
	for i := range s.Clusters {
		if s.Clusters[i].Selected {
			facts = append(facts, s.Clusters[i].Facts)
		}
	}
	return facts
}

// Before returns what the object's status says of a cluster; of one that is new nothing.
func Before(object *v1alpha1.FederatedHPA, cluster string) v1alpha1.ClusterStatus {
	for c := range Pointers(object.Status.Clusters) {
		if c.Name == cluster {
			return *c
		}
	}
	return v1alpha1.ClusterStatus{}
}

// Room returns how many of so many more replicas a cluster can host where as many should run: those that have no Pod yet will take
// a part of it, though it still seems free. nil: that is not known.
func (c *Cluster) Room(told int32) *int32 {
	if c.Additional == nil {
		return nil
	}
	unborn := max(0, int64(told)-int64(len(c.Pods.Pods)))
	return new(int32(max(0, int64(*c.Additional)-unborn)))
}

// UnschedulableSince returns since when Pods have found no node, by our clock, where some wait; it was stored if it began before.
func (c *Cluster) UnschedulableSince(now time.Time) *metav1.Time {
	if c.Before.UnschedulableSince != nil {
		return c.Before.UnschedulableSince
	}
	since := c.Pods.UnschedulableSince.Add(-c.ClockOffset)
	if c.Pods.UnschedulableSince.IsZero() || since.After(now) {
		since = now
	}
	return &metav1.Time{Time: since}
}

// Rank notes in a status what a split by the policy goes by.
func (c *Cluster) Rank(s *v1alpha1.ClusterStatus, policy assignment.Policy) {
	switch policy {
	case assignment.StaticWeighted:
		s.Weight = &c.Preference.Weight
	case assignment.Prioritized:
		s.Priority = &c.Preference.Priority
	}
}

// Time is a stored time as decisions have it.
func Time(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}

// Stored is a time as it is stored.
func Stored(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return &metav1.Time{Time: *t}
}

// Pointers are those to the entries of a list: clusters are large, and some of them are changed.
func Pointers[T any](all []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
	}
}

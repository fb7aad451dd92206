// SPDX-License-Identifier: Apache-2.0

// Package sight is the fleet as one reconcile of a FederatedHPA sees it: which clusters it selects, and what is known of
// the workload in each. It is read once, in a few steps that both modes share, and not changed afterwards; what follows
// from it is decided elsewhere.
package sight

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// Sight is what is seen for one object at one time.
type Sight struct {
	// Object has its defaults. Its status is the one stored last.
	Object *v1alpha1.FederatedHPA
	Now    time.Time
	// Clusters are those that the object selects, and those that its status names, in name order.
	Clusters []selection.Cluster
	// Rule is how somebody else brings the workload to the clusters.
	Rule placement.Rule
	// Deregistered are clusters that the status names, and that are no longer registered.
	Deregistered []v1alpha1.ClusterStatus
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

// Delay is how long replicas find no node before others take them over.
func (s *Sight) Delay() time.Duration {
	return time.Duration(*s.Object.Spec.AutoscaleMultiClusterDelay) * time.Second
}

// Stuck is what keeps the replicas of a cluster from going to others, which have found no node since then; empty: nothing does, or it
// has not been for the delay.
func (s *Sight) Stuck(c *selection.Cluster, since *metav1.Time) string {
	if c.Stuck == "" || since == nil || s.Now.Sub(since.Time) < s.Delay() {
		return ""
	}
	return c.Facts.Name + ": " + c.Stuck
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

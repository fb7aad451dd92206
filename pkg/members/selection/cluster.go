// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// Cluster is one member cluster, and what is known of the workload there. What was not read is nil.
type Cluster struct {
	Candidate
	// Before is what the autoscaler's status says of it.
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

// Of is a cluster of which nothing was read yet.
func Of(c Candidate) Cluster {
	return Cluster{Candidate: c, Preferred: true, Silence: c.Member.Silence()}
}

// Prefer gives the clusters that are selected their preferences, by the entries of a field of the autoscaler's spec. An error is a
// [SpecError].
func Prefer(clusters []Cluster, field string, policy assignment.Policy, entries []v1alpha1.TargetClusterAutoscalingPreference) error {
	found, err := assignment.Preferences(policy, entries, Facts(clusters))
	if err != nil {
		return &SpecError{Message: fmt.Sprintf("spec.%s: %v", field, err)}
	}
	for i := range clusters {
		if c := &clusters[i]; c.Selected {
			c.Preference, c.Preferred = found[c.Facts.Name]
		}
	}
	return nil
}

// Facts are those of the clusters that are selected.
func Facts(clusters []Cluster) []assignment.ClusterFacts {
	facts := make([]assignment.ClusterFacts, 0, len(clusters))
	for i := range clusters {
		if clusters[i].Selected {
			facts = append(facts, clusters[i].Facts)
		}
	}
	return facts
}

// ReadScale reads the workload's scale.
func (c *Cluster) ReadScale(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) {
	scale, err := c.Member.Scale(ctx, namespace, of)
	if err == nil {
		c.Scale = scale
		return
	}
	silence, absent := fleet.Classify(err)
	if absent || meta.IsNoMatchError(err) {
		c.Absent = err
		return
	}
	if c.Silence == nil {
		c.Silence = silence
	}
}

// ReadStuck reads whether Pods that wait for a node would be those that go when replicas are taken away. A ReplicaSet deletes them
// first. A StatefulSet deletes its last Pod: that is the one that waits if Pods are created one after the other, and may be any other
// if they are created at once. A StatefulSet is read only while Pods wait.
func (c *Cluster) ReadStuck(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference) {
	if ref.Kind != "StatefulSet" || c.Pods.Unschedulable == 0 {
		return
	}
	found, err := c.Member.Get(ctx, namespace, ref)
	if err != nil {
		c.Stuck = fmt.Sprintf("spec.podManagementPolicy of %s cannot be read: %v", workload.Describe(ref), err)
		return
	}
	if policy, _, _ := unstructured.NestedString(found.Object, "spec", "podManagementPolicy"); policy == "Parallel" {
		c.Stuck = fmt.Sprintf("spec.podManagementPolicy of %s is Parallel, so it could lose a Pod that runs", workload.Describe(ref))
	}
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

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// status is what the object is to say: what every cluster is to have, and what is known of it.
func (in *situation) status(step *assignment.Step) v1alpha1.FederatedHPAStatus {
	s := *in.object.Status.DeepCopy()
	s.Stabilization = nil
	if in.fault == nil {
		s.Assignment = &step.Memory
		s.Clusters = in.clusterStatuses(step)
		in.addUp(&s)
		s.CurrentMetrics = in.metrics()
		if !step.Incomplete {
			s.ObservedGeneration = &in.object.Generation
		}
	}
	s.Conditions = in.conditions(step, &s)
	s.Summary = &v1alpha1.FederatedHPASummary{
		Targets:  summary.Brief(summary.Targets(in.object.Spec.Metrics, s.CurrentMetrics), summary.LongestTargets),
		Clusters: summary.Clusters(s.Clusters),
		State:    stateOf(&s),
	}
	return s
}

func (in *situation) clusterStatuses(step *assignment.Step) []v1alpha1.ClusterStatus {
	var all []v1alpha1.ClusterStatus
	for i := range in.sites {
		if s := &in.sites[i]; !s.over(in) && len(all) < summary.MostClusters {
			all = append(all, s.status(in, step.Sites[s.facts.Name]))
		}
	}
	return all
}

// over: the cluster was taken out, and there is nothing of ours in it any more.
func (s *site) over(in *situation) bool {
	return s.reason == reasonNotSelected && s.here() && s.has(in.object, 0, 0) && s.cleared
}

func (s *site) status(in *situation, next assignment.SiteStep) v1alpha1.ClusterStatus {
	c := v1alpha1.ClusterStatus{
		Name: s.facts.Name, State: next.State, Since: &metav1.Time{Time: next.Since},
		AssignedMin: &next.Min, AssignedMax: &next.Max, AssignedReplicas: next.Scale,
		CurrentReplicas: s.before.CurrentReplicas, ReadyReplicas: s.before.ReadyReplicas, UnschedulableReplicas: s.before.UnschedulableReplicas,
		UnschedulableSince: s.unschedulableSince(in.now), SchedulableSince: metaTime(next.SchedulableSince), SaturatedFirst: metaTime(next.SaturatedFirst),
		HPAVersion: cmp.Or(s.autoscalers.Version, s.before.HPAVersion),
	}
	c.Reason, c.Message = s.why(&c)
	if s.scale != nil || s.absent {
		c.CurrentReplicas = new(s.current())
	}
	if s.listing.Known {
		c.ReadyReplicas, c.UnschedulableReplicas = new(int32(s.listing.Ready())), new(s.unschedulable())
	}
	if s.additional != nil {
		hosted := int64(max(0, s.current()-s.unschedulable()))
		c.AvailableReplicas = new(int32(min(hosted+int64(*s.additional), math.MaxInt32)))
	}
	switch in.object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType {
	case v1alpha1.AssignmentStaticWeighted:
		c.Weight = &s.preference.Weight
	case v1alpha1.AssignmentPrioritized:
		c.Priority = &s.preference.Priority
	}
	if s.own != nil {
		c.HPA = &s.own.Status
	} else if !s.here() {
		c.HPA = s.before.HPA
	}
	return c
}

// why says why a cluster is in its state, if that is not the best one.
func (s *site) why(c *v1alpha1.ClusterStatus) (reason, message string) {
	switch {
	case s.reason != "":
		reason, message = s.reason, s.message
	case c.State == v1alpha1.ClusterSaturated:
		reason, message = reasonUnschedulable, "its nodes take no more Pods of the workload"
	case c.State == v1alpha1.ClusterExcluded:
		reason, message = reasonNoShare, "the split leaves it no part of maxReplicas"
	}
	return summary.Brief(reason, summary.LongestReason), summary.Brief(message, summary.LongestMessage)
}

// addUp adds up the clusters that take part.
func (in *situation) addUp(s *v1alpha1.FederatedHPAStatus) {
	current, desired, ready := int64(0), int64(0), int64(0)
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if c.State == v1alpha1.ClusterExcluded || c.State == v1alpha1.ClusterConflict {
			continue
		}
		current += int64(value(c.CurrentReplicas))
		ready += int64(value(c.ReadyReplicas))
		desired += int64(value(c.CurrentReplicas))
		if c.HPA != nil && value(c.CurrentReplicas) > 0 {
			desired += int64(c.HPA.DesiredReplicas) - int64(value(c.CurrentReplicas))
		}
	}
	s.CurrentReplicas, s.DesiredReplicas = int32(min(current, math.MaxInt32)), int32(min(max(0, desired), math.MaxInt32))
	s.ReadyReplicas = new(int32(min(ready, math.MaxInt32)))
	s.LastScaleTime = in.lastScale()
}

// lastScale is when an autoscaler last changed replicas, by our clock.
func (in *situation) lastScale() *metav1.Time {
	last := in.object.Status.LastScaleTime
	for i := range in.sites {
		s := &in.sites[i]
		if s.own == nil || s.own.Status.LastScaleTime == nil {
			continue
		}
		at := metav1.NewTime(s.own.Status.LastScaleTime.Add(-s.cluster.ClockOffset()).Truncate(time.Second))
		if last == nil || last.Before(&at) {
			last = &at
		}
	}
	return last
}

// running are the clusters in which an autoscaler of ours has something to scale.
func (in *situation) running() []*site {
	var all []*site
	for i := range in.sites {
		if s := &in.sites[i]; s.inSight() && s.own != nil && s.current() > 0 {
			all = append(all, s)
		}
	}
	return slices.Clip(all)
}

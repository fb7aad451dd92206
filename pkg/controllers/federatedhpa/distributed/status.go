// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// status returns the new status: the assignment of every cluster, and what is known of it.
func (p *plan) status() v1alpha1.FederatedHPAStatus {
	s := *p.Object.Status.DeepCopy()
	s.Stabilization = nil
	if p.fault == nil {
		s.Assignment = &p.step.Memory
		s.Clusters = p.clusterStatuses()
		p.addUp(&s)
		s.CurrentMetrics = p.metrics()
		if !p.step.Incomplete {
			s.ObservedGeneration = &p.Object.Generation
		}
	}
	s.Conditions = p.conditions(&s)
	s.Summary = &v1alpha1.FederatedHPASummary{
		Targets:  summary.Brief(summary.Targets(p.Object.Spec.Metrics, s.CurrentMetrics), summary.LongestTargets),
		Clusters: summary.Clusters(s.Clusters),
		State:    stateOf(&s),
	}
	return s
}

func (p *plan) clusterStatuses() []v1alpha1.ClusterStatus {
	var all []v1alpha1.ClusterStatus
	for s := range sight.Pointers(p.sites) {
		if !s.over() && len(all) < summary.MostClusters {
			all = append(all, s.status(&p.situation))
		}
	}
	return all
}

// over: the cluster was taken out, and there is nothing of ours in it any more.
func (s *site) over() bool {
	return s.reason == reasonNotSelected && s.here() && !s.owns() && s.cleared
}

func (s *site) status(in *situation) v1alpha1.ClusterStatus {
	next := s.next // of its own: the status points into it
	c := v1alpha1.ClusterStatus{
		Name: s.Facts.Name, State: next.State, Since: &metav1.Time{Time: next.Since},
		AssignedMin: &next.Min, AssignedMax: &next.Max, AssignedReplicas: next.Scale,
		CurrentReplicas: s.Before.CurrentReplicas, ReadyReplicas: s.Before.ReadyReplicas, UnschedulableReplicas: s.Before.UnschedulableReplicas,
		UnschedulableSince: s.unschedulableSince(in.Now), SchedulableSince: sight.Stored(next.SchedulableSince),
		SaturatedFirst: sight.Stored(next.SaturatedFirst),
		HPAVersion:     cmp.Or(s.Autoscalers.Version, s.Before.HPAVersion),
	}
	c.Reason, c.Message = s.why(&c)
	if s.Scale != nil || s.lacks() {
		c.CurrentReplicas = new(s.current())
	}
	if s.Pods.Known {
		c.ReadyReplicas, c.UnschedulableReplicas = new(int32(s.Pods.Ready())), new(s.unschedulable())
	}
	if room := s.Room(s.current()); room != nil {
		hosted := int64(max(0, s.current()-s.unschedulable()))
		c.AvailableReplicas = new(int32(min(hosted+int64(*room), math.MaxInt32)))
	}
	s.Rank(&c, assignment.Policy(in.Object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType))
	if s.own != nil {
		c.HPA = &s.own.Status
	} else if !s.here() {
		c.HPA = s.Before.HPA
	}
	return c
}

// why returns why a cluster is in its state, if that is not the best one.
func (s *site) why(c *v1alpha1.ClusterStatus) (reason, message string) {
	switch {
	case s.reason != "":
		reason, message = s.reason, s.message
	case s.Standing.Standing != taints.Free:
		reason, message = s.Standing.String(), s.Standing.Message()
	case c.State == v1alpha1.ClusterSaturated:
		reason, message = record.ReasonUnschedulable, "its nodes take no more Pods of the workload"
	case c.State == v1alpha1.ClusterExcluded:
		reason, message = reasonNoShare, "the split leaves it no part of maxReplicas"
	}
	return summary.Brief(reason, summary.LongestReason), summary.Brief(message, summary.LongestMessage)
}

// addUp adds up the clusters that take part.
func (in *situation) addUp(s *v1alpha1.FederatedHPAStatus) {
	current, desired, ready := int64(0), int64(0), int64(0)
	for c := range sight.Pointers(s.Clusters) {
		if c.State == v1alpha1.ClusterExcluded || c.State == v1alpha1.ClusterConflict {
			continue
		}
		current += int64(ptr.Deref(c.CurrentReplicas, 0))
		ready += int64(ptr.Deref(c.ReadyReplicas, 0))
		desired += int64(ptr.Deref(c.CurrentReplicas, 0))
		if c.HPA != nil && ptr.Deref(c.CurrentReplicas, 0) > 0 {
			desired += int64(c.HPA.DesiredReplicas) - int64(ptr.Deref(c.CurrentReplicas, 0))
		}
	}
	s.CurrentReplicas, s.DesiredReplicas = int32(min(current, math.MaxInt32)), int32(min(max(0, desired), math.MaxInt32))
	s.ReadyReplicas = new(int32(min(ready, math.MaxInt32)))
	s.LastScaleTime = in.lastScale()
}

// lastScale returns when an autoscaler last changed replicas, by our clock.
func (in *situation) lastScale() *metav1.Time {
	last := in.Object.Status.LastScaleTime
	for s := range sight.Pointers(in.sites) {
		if s.own == nil || s.own.Status.LastScaleTime == nil {
			continue
		}
		at := metav1.NewTime(s.own.Status.LastScaleTime.Add(-s.ClockOffset).Truncate(time.Second))
		if last == nil || last.Before(&at) {
			last = &at
		}
	}
	return last
}

// running are the clusters in which an autoscaler of ours has something to scale.
func (in *situation) running() []*site {
	var all []*site
	for s := range sight.Pointers(in.sites) {
		if s.inSight() && s.own != nil && s.current() > 0 {
			all = append(all, s)
		}
	}
	return slices.Clip(all)
}

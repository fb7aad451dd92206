// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// status is what the object is to say after the decision.
func (in *situation) status(d *decision) v1alpha1.FederatedHPAStatus {
	s := in.object.Status // what stays of it is shared
	s.ObservedGeneration, s.LastScaleTime = d.Status.ObservedGeneration, d.Status.LastScaleTime
	s.CurrentReplicas, s.DesiredReplicas = d.Status.CurrentReplicas, d.Status.DesiredReplicas
	s.CurrentMetrics = d.Status.CurrentMetrics
	s.Conditions = slices.Clone(d.Status.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].Message = summary.Brief(s.Conditions[i].Message, summary.LongestCondition)
	}
	if d.division != nil {
		in.sayFull(d.division, &s)
	}
	in.sayUnmatched(&s)
	in.sayPropagated(&s)
	s.Clusters = in.clusterStatuses(d)
	if in.scale.Err == nil {
		in.remember(d, &s)
	}
	s.Summary = summarize(&in.object.Spec, d, &s)
	return s
}

// remember notes what the next decision must know. Where the workload could not be read, that is what it was.
func (in *situation) remember(d *decision, s *v1alpha1.FederatedHPAStatus) {
	s.ReadyReplicas = new(readyIn(s.Clusters))
	s.Stabilization = d.State.Memory(&in.object.Spec.HorizontalPodAutoscalerSpec, in.options, in.now)
	s.Assignment = nil
	if d.division != nil {
		s.Assignment = d.division.memory
	}
}

func (in *situation) clusterStatuses(d *decision) []v1alpha1.ClusterStatus {
	if in.parts == nil {
		return in.object.Status.Clusters // where the workload is placed could not be read
	}
	parts := in.parts[:min(len(in.parts), summary.MostClusters)]
	all := make([]v1alpha1.ClusterStatus, len(parts))
	for i := range parts {
		all[i] = parts[i].status(in, d)
	}
	return all
}

func (p *part) status(in *situation, d *decision) v1alpha1.ClusterStatus {
	s := v1alpha1.ClusterStatus{Name: p.facts.Name, State: p.state, Reason: p.reason, Message: p.message, AssignedReplicas: p.assigned}
	if i := slices.IndexFunc(d.Explanation.Unseen, func(u replicas.Unseen) bool { return u.Cluster == s.Name }); i >= 0 && s.State == v1alpha1.ClusterActive {
		s.State, s.Reason = v1alpha1.ClusterUnreachable, string(d.Explanation.Unseen[i].Reason)
		s.Message = "the metrics lack this cluster"
	}
	d.division.refusal(&s)
	s.Reason, s.Message = summary.Brief(s.Reason, summary.LongestReason), summary.Brief(s.Message, summary.LongestMessage)
	s.Since = p.before.Since
	if s.State != p.before.State || s.Since == nil {
		s.Since = &metav1.Time{Time: in.now}
	}
	if !p.takesPart() {
		return s
	}
	s.SaturatedFirst = metaTime(assignment.SaturatedFirst(timeOf(p.before.SaturatedFirst), s.State == v1alpha1.ClusterSaturated, s.Since.Time, in.now))
	p.count(&s)
	s.MetricAgeSeconds = in.metricAge(p)
	s.UnschedulableSince, s.SchedulableSince, s.AvailableReplicas = p.unschedulableSince, p.schedulableSince, p.capacity
	if rd := in.object.Spec.ReplicaDistribution; rd != nil {
		p.rank(&s, rd.Type)
	}
	return s
}

// refusal notes that the cluster could not be told.
func (v *division) refusal(s *v1alpha1.ClusterStatus) {
	if v == nil {
		return
	}
	for _, c := range v.changes {
		if c.part.facts.Name == s.Name && c.err != nil {
			s.Reason, s.Message = reasonFailedUpdateScale, c.err.Error()
		}
	}
}

// count notes how many Pods do what; of those that can not be seen, what was last known.
func (p *part) count(s *v1alpha1.ClusterStatus) {
	s.ReadyReplicas, s.UnschedulableReplicas = p.before.ReadyReplicas, p.before.UnschedulableReplicas
	if p.listing.Known {
		s.ReadyReplicas, s.UnschedulableReplicas = new(int32(p.listing.Ready())), new(int32(p.listing.Unschedulable))
	}
	s.CurrentReplicas = p.before.CurrentReplicas
	if p.scale != nil {
		s.CurrentReplicas = &p.scale.Spec.Replicas
	}
}

// rank notes what the division went by.
func (p *part) rank(s *v1alpha1.ClusterStatus, by v1alpha1.ReplicaDistributionType) {
	switch by {
	case v1alpha1.DistributionStaticWeighted:
		s.Weight = &p.preference.Weight
	case v1alpha1.DistributionPrioritized:
		s.Priority = &p.preference.Priority
	}
}

func readyIn(clusters []v1alpha1.ClusterStatus) int32 {
	ready := int32(0)
	for i := range clusters {
		if r := clusters[i].ReadyReplicas; r != nil {
			ready += *r
		}
	}
	return ready
}

// metricAge is the age of the oldest sample of the cluster's Pods, in seconds, by the cluster's clock.
func (in *situation) metricAge(p *part) *int32 {
	var oldest time.Time
	for i := range in.metrics {
		for _, sample := range in.metrics[i].Pods[p.facts.Name] {
			if oldest.IsZero() || sample.At.Before(oldest) {
				oldest = sample.At
			}
		}
	}
	if oldest.IsZero() {
		return nil
	}
	return new(int32(max(0, in.now.Add(p.offset).Sub(oldest)/time.Second)))
}

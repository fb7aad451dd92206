// SPDX-License-Identifier: Apache-2.0

package central

import (
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// status returns what the object is to say after the decision.
func (o *outcome) status() v1alpha1.FederatedHPAStatus {
	s := o.Object.Status // what stays of it is shared
	s.ObservedGeneration, s.LastScaleTime = o.Status.ObservedGeneration, o.Status.LastScaleTime
	s.CurrentReplicas, s.DesiredReplicas = o.Status.CurrentReplicas, o.Status.DesiredReplicas
	s.CurrentMetrics = o.Status.CurrentMetrics
	s.Conditions = slices.Clone(o.Status.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].Message = summary.Brief(s.Conditions[i].Message, summary.LongestCondition)
	}
	if o.division != nil {
		s.Conditions = o.saturated(o.division).Set(s.Conditions, o.Now)
	}
	s.Conditions = record.Skewed(o.Skewed()).Set(o.propagated(o.divided(s.Conditions)), o.Now)
	s.Conditions = record.Acting(o.Object.Spec.Mode, o.would()).Set(s.Conditions, o.Now)
	s.Clusters = o.clusterStatuses()
	if o.scale.Err == nil {
		o.remember(&s)
	}
	s.Summary = o.summarize(&s)
	return s
}

// remember notes what the next decision must know. Where the workload could not be read, that is what it was.
func (o *outcome) remember(s *v1alpha1.FederatedHPAStatus) {
	s.ReadyReplicas = new(readyIn(s.Clusters))
	s.Stabilization = o.State.Memory(&o.Object.Spec.HorizontalPodAutoscalerSpec, o.options, o.Now)
	s.Assignment = nil
	if o.division != nil {
		s.Assignment = o.division.memory
	}
}

func (o *outcome) clusterStatuses() []v1alpha1.ClusterStatus {
	if o.parts == nil {
		return o.Object.Status.Clusters // where the workload is placed could not be read
	}
	parts := o.parts[:min(len(o.parts), summary.MostClusters)]
	all := make([]v1alpha1.ClusterStatus, len(parts))
	for i := range parts {
		all[i] = o.clusterStatus(&parts[i])
	}
	return all
}

func (o *outcome) clusterStatus(p *part) v1alpha1.ClusterStatus {
	s := v1alpha1.ClusterStatus{Name: p.Facts.Name, State: p.state, Reason: p.reason, Message: p.message, AssignedReplicas: o.assigned(p)}
	if i := slices.IndexFunc(o.Explanation.Unseen, func(u replicas.Unseen) bool { return u.Cluster == s.Name }); i >= 0 &&
		s.State == v1alpha1.ClusterActive {
		s.State, s.Reason = v1alpha1.ClusterUnreachable, string(o.Explanation.Unseen[i].Reason)
		s.Message = "the metrics lack this cluster"
	}
	if p.err != nil {
		s.Reason, s.Message = reasonFailedUpdateScale, p.err.Error()
	}
	switch {
	case s.Reason == "":
		s.Reason, s.Message = p.Standing.String(), p.Standing.Message()
	case p.abandoned():
		s.Message = fmt.Sprintf("%s; it cannot be read: %s: %s", p.Standing.Message(), s.Reason, s.Message)
		s.Reason = p.Standing.String()
	}
	s.Reason, s.Message = summary.Brief(s.Reason, summary.LongestReason), summary.Brief(s.Message, summary.LongestMessage)
	s.Since = p.Before.Since
	if s.State != p.Before.State || s.Since == nil {
		s.Since = &metav1.Time{Time: o.Now}
	}
	if !p.takesPart() {
		return s
	}
	s.SaturatedFirst = sight.Stored(assignment.SaturatedFirst(sight.Time(p.Before.SaturatedFirst), s.State == v1alpha1.ClusterSaturated,
		s.Since.Time, o.Now))
	p.count(&s)
	s.MetricAgeSeconds, s.UnmeasuredReplicas = o.metricAge(p), o.unmeasured(p.Facts.Name)
	s.UnschedulableSince, s.SchedulableSince, s.AvailableReplicas = p.unschedulableSince, p.schedulableSince, p.capacity()
	if d := o.Object.Spec.ReplicaDistribution; d != nil {
		p.Rank(&s, assignment.Policy(d.Type))
	}
	return s
}

// count notes how many Pods do what; of those that cannot be seen, what was last known.
func (p *part) count(s *v1alpha1.ClusterStatus) {
	s.ReadyReplicas, s.UnschedulableReplicas = p.Before.ReadyReplicas, p.Before.UnschedulableReplicas
	if p.Pods.Known {
		s.ReadyReplicas, s.UnschedulableReplicas = new(int32(p.Pods.Ready())), new(int32(p.Pods.Unschedulable))
	}
	s.CurrentReplicas = p.Before.CurrentReplicas
	if p.Scale != nil {
		s.CurrentReplicas = &p.Scale.Spec.Replicas
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
		for _, sample := range in.metrics[i].Pods[p.Facts.Name] {
			if oldest.IsZero() || sample.At.Before(oldest) {
				oldest = sample.At
			}
		}
	}
	if oldest.IsZero() {
		return nil
	}
	return new(int32(max(0, in.Now.Add(p.ClockOffset).Sub(oldest)/time.Second)))
}

// unmeasured is how many Pods of a cluster had no sample, of the metric of Pods that lacks the most; nil: none of Pods was used.
func (o *outcome) unmeasured(cluster string) *int32 {
	var most *int32
	for _, metric := range o.Explanation.Metrics {
		for _, c := range metric.Pods {
			if c.Cluster == cluster && (most == nil || int32(c.Missing) > *most) {
				most = new(int32(c.Missing))
			}
		}
	}
	return most
}

// summarize is the status for those who have one line.
func (o *outcome) summarize(s *v1alpha1.FederatedHPAStatus) *v1alpha1.FederatedHPASummary {
	return &v1alpha1.FederatedHPASummary{
		Targets:  summary.Brief(summary.Targets(o.Object.Spec.Metrics, s.CurrentMetrics), summary.LongestTargets),
		Clusters: summary.Clusters(s.Clusters),
		State:    o.stateOf(s),
	}
}

// would returns what is not carried out.
func (o *outcome) would() string {
	moves := []string{"the workload would go on with its " + o.number(o.scale.Replicas)}
	if o.Rescale {
		moves[0] = fmt.Sprintf("the workload would go from %d to %s", o.scale.Replicas, o.number(o.Replicas))
	}
	if o.division != nil {
		for _, p := range o.division.changed {
			moves = append(moves, fmt.Sprintf("cluster %s from %d to %d", p.Facts.Name, *p.assigned, o.division.Replicas[p.Facts.Name]))
		}
	}
	return strings.Join(moves, ", ") + claims.ScaledToo(o.besideIt())
}

// stateOf returns what the autoscaler is doing.
func (o *outcome) stateOf(s *v1alpha1.FederatedHPAStatus) v1alpha1.FederatedHPAState {
	active := summary.Condition(s, autoscalingv2.ScalingActive)
	switch {
	case summary.Condition(s, autoscalingv2.AbleToScale).Status == corev1.ConditionFalse:
		return v1alpha1.StateFailing
	case active.Reason == replicas.ReasonScalingDisabled && s.CurrentReplicas == 0:
		return v1alpha1.StatePaused
	case active.Status == corev1.ConditionFalse && active.Reason != replicas.ReasonScalingDisabled && !o.Rescale:
		return v1alpha1.StateFailing
	case o.Object.Spec.Mode == v1alpha1.ModeObserve:
		return v1alpha1.StateObserving
	case summary.Condition(s, v1alpha1.Propagated).Status == corev1.ConditionFalse:
		return v1alpha1.StateFailing
	case o.Explanation.Held:
		return v1alpha1.StateHeld
	case summary.Condition(s, autoscalingv2.ScalingLimited).Status == corev1.ConditionTrue:
		return v1alpha1.StateLimited
	default:
		return v1alpha1.StateActive
	}
}

// saturated reports whether the clusters can take what is divided among them.
func (in *situation) saturated(v *division) record.Condition {
	c := record.Condition{Type: v1alpha1.AllClustersSaturated, Is: v.Unplaced > 0 || v.Saturated, Reason: reasonNoRoom,
		Message: "no cluster is known to have room for some of the replicas; they were given out all the same"}
	if v.Unplaced > 0 {
		c.Reason, c.Message = reasonThresholds, "all clusters that can be scaled are "+in.atMost()
	}
	return c.Else(reasonRoom, "the clusters can take their replicas")
}

// divided reports what a division among clusters lacks: of its preferences, and of what it may move.
func (o *outcome) divided(
	conditions []autoscalingv2.HorizontalPodAutoscalerCondition) []autoscalingv2.HorizontalPodAutoscalerCondition {
	switch d := o.Object.Spec.ReplicaDistribution; {
	case d == nil:
		for _, kind := range []autoscalingv2.HorizontalPodAutoscalerConditionType{
			v1alpha1.PreferenceUnmatched, v1alpha1.PendingNotMovable, v1alpha1.MinThresholdNotMet,
		} {
			conditions = record.Unset(conditions, kind)
		}
		return conditions
	case o.parts == nil:
		return conditions // which clusters are selected could not be read
	default:
		conditions = record.Unmatched(d.ClusterAutoscalingPreference, selection.Facts(o.Clusters)).Set(conditions, o.Now)
		conditions = o.stuck().Set(conditions, o.Now)
		if o.division == nil {
			return conditions
		}
		return o.thresholds().Set(conditions, o.Now)
	}
}

// thresholds: clusters get less of what the fleet is to run than was set. One that cannot be told keeps what it has.
func (o *outcome) thresholds() record.Condition {
	var shares []record.Share
	for p := range sight.Pointers(o.parts) {
		if p.writable() {
			shares = append(shares, record.Share{Cluster: p.Facts.Name, Gets: o.division.Replicas[p.Facts.Name], Floor: p.Preference.Floor})
		}
	}
	return record.Thresholds(shares, o.Replicas, "what the fleet runs")
}

// grownOld is by how many seconds the age of a metric changes to be worth a write.
const grownOld = 60

// worthWriting reports whether a status tells more than the one stored. What merely ages does not count: neither the age of
// metrics, within a minute, nor when a recommendation was last repeated.
func worthWriting(stored, fresh *v1alpha1.FederatedHPAStatus) bool {
	return !remembers(stored.Stabilization, fresh.Stabilization) || !slices.EqualFunc(stored.Clusters, fresh.Clusters, sameButForAge) ||
		!equality.Semantic.DeepEqual(withoutClusters(stored), withoutClusters(fresh)) || aged(stored, fresh)
}

// aged compares the ages of metrics of clusters that are the same.
func aged(stored, fresh *v1alpha1.FederatedHPAStatus) bool {
	for i := range fresh.Clusters {
		before, now := stored.Clusters[i].MetricAgeSeconds, fresh.Clusters[i].MetricAgeSeconds
		if (before == nil) != (now == nil) || before != nil && max(*now-*before, *before-*now) >= grownOld {
			return true
		}
	}
	return false
}

// withoutClusters is the status without them, and without what merely ages. The rest is shared with it.
func withoutClusters(s *v1alpha1.FederatedHPAStatus) *v1alpha1.FederatedHPAStatus {
	shallow := *s
	shallow.Stabilization, shallow.Clusters = nil, nil
	return &shallow
}

// sameButForAge compares all but the age of metrics. It is done for each cluster in each reconcile, where to compare by
// reflection would take a tenth of the whole.
func sameButForAge(a, b v1alpha1.ClusterStatus) bool {
	return a.Name == b.Name && a.State == b.State && a.Reason == b.Reason && a.Message == b.Message && a.HPAVersion == b.HPAVersion &&
		a.Since.Equal(b.Since) && a.UnschedulableSince.Equal(b.UnschedulableSince) && a.SchedulableSince.Equal(b.SchedulableSince) &&
		a.SaturatedFirst.Equal(b.SaturatedFirst) &&
		sameNumbers(&a, &b) && equality.Semantic.DeepEqual(a.HPA, b.HPA)
}

func sameNumbers(a, b *v1alpha1.ClusterStatus) bool {
	return ptr.Equal(a.AssignedReplicas, b.AssignedReplicas) && ptr.Equal(a.AssignedMin, b.AssignedMin) &&
		ptr.Equal(a.AssignedMax, b.AssignedMax) &&
		ptr.Equal(a.CurrentReplicas, b.CurrentReplicas) && ptr.Equal(a.ReadyReplicas, b.ReadyReplicas) &&
		ptr.Equal(a.UnschedulableReplicas, b.UnschedulableReplicas) &&
		ptr.Equal(a.UnmeasuredReplicas, b.UnmeasuredReplicas) && ptr.Equal(a.AvailableReplicas, b.AvailableReplicas) &&
		ptr.Equal(a.Weight, b.Weight) && ptr.Equal(a.Priority, b.Priority)
}

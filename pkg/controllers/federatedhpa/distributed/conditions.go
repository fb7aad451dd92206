// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// conditions report whether the object can do its work.
func (p *plan) conditions(s *v1alpha1.FederatedHPAStatus) []autoscalingv2.HorizontalPodAutoscalerCondition {
	all := []record.Condition{p.able()}
	var conditions []autoscalingv2.HorizontalPodAutoscalerCondition
	if acting := summary.Condition(s, v1alpha1.Acting); p.fault != nil && p.Object.Spec.Mode == "" && acting.Type != "" {
		conditions = append(conditions, acting) // a mode that was dropped, and not removed, is known by it
	} else {
		all = append(all, record.Acting(p.Object.Spec.Mode, p.would(s)))
	}
	if p.fault == nil {
		all = append(all, p.active(), p.limited(), p.visible(), p.supported(), p.unassigned(), p.thresholds(), p.saturated(), p.stuck(),
			p.weighed(), record.Skewed(p.Skewed()), record.Unmatched(p.Object.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference,
				selection.Facts(p.Clusters)))
	}
	for _, c := range all {
		if before := summary.Condition(s, c.Type); before.Type != "" {
			conditions = append(conditions, before)
		}
		conditions = c.Set(conditions, p.Now)
	}
	return conditions
}

// would is what is not carried out.
func (p *plan) would(s *v1alpha1.FederatedHPAStatus) string {
	var all, beside []string
	for at := range p.sites {
		beside = append(beside, p.sites[at].beside...)
	}
	for c := range sight.Pointers(s.Clusters) {
		lower, upper := int32(0), int32(0)
		if at := slices.IndexFunc(p.sites, func(s site) bool { return s.Facts.Name == c.Name }); at >= 0 && p.sites[at].owns() {
			lower, upper = p.sites[at].least(), p.sites[at].stands()
		}
		if ptr.Deref(c.AssignedMin, 0) != lower || ptr.Deref(c.AssignedMax, 0) != upper {
			all = append(all, fmt.Sprintf("%s from %d-%d to %d-%d", c.Name, lower, upper, ptr.Deref(c.AssignedMin, 0), ptr.Deref(c.AssignedMax, 0)))
		}
	}
	if len(all) == 0 {
		return "the bounds of all clusters would stay as they are" + claims.ScaledToo(beside)
	}
	return "these clusters would get other bounds: " + strings.Join(all, ", ") + claims.ScaledToo(beside)
}

// able: the bounds can be read and written everywhere.
func (in *situation) able() record.Condition {
	c := record.Condition{Type: autoscalingv2.AbleToScale, Reason: reasonFailedWrite}
	failing := in.words(func(s *site) string {
		if s.reason != reasonFailedWrite && (s.presence != assignment.Leaving || s.refused.message == "") {
			return ""
		}
		return s.Facts.Name + ": " + cmp.Or(s.refused.message, s.message)
	})
	undone := in.words(func(s *site) string {
		if s.reason != record.ReasonScaleUndone {
			return ""
		}
		return s.message
	})
	parts := 0
	for s := range sight.Pointers(in.sites) {
		if s.presence != assignment.Leaving {
			parts++
		}
	}
	var own *fault
	switch {
	case errors.As(in.fault, &own):
		c.Reason, c.Message = own.reason, own.message
	case in.fault != nil:
		c.Reason, c.Message = reasonFailedReadHub, in.fault.Error()
	case len(failing) > 0:
		c.Message = "bounds cannot be written: " + strings.Join(failing, "; ")
	case len(undone) > 0:
		c.Reason, c.Message = record.ReasonScaleUndone, strings.Join(undone, "; ")
	case parts == 0:
		c.Reason, c.Message = reasonNoClusters, in.nowhere()
	default:
		c.Is, c.Reason, c.Message = true, replicas.ReasonReadyForNewScale, fmt.Sprintf("the bounds are split among %d clusters", parts)
	}
	return c
}

// nowhere returns why no cluster takes part.
func (in *situation) nowhere() string {
	each := in.words(func(s *site) string { return fmt.Sprintf("%s: %s", s.Facts.Name, s.reason) })
	if len(each) == 0 {
		return "no registered cluster is selected: compare spec.clusterAffinity with the registrations"
	}
	return "no cluster takes part: " + strings.Join(each, "; ")
}

// active: the autoscalers of the clusters can compute what to do.
func (in *situation) active() record.Condition {
	c := record.Condition{Type: autoscalingv2.ScalingActive}
	running := in.running()
	if len(running) == 0 {
		c.Reason, c.Message = replicas.ReasonScalingDisabled, "no cluster runs a replica under its autoscaler yet"
		return c
	}
	var failing []string
	for _, s := range running {
		found := of(s.own, autoscalingv2.ScalingActive)
		if found.Status != corev1.ConditionTrue && found.Status != "" {
			c.Reason = found.Reason
			failing = append(failing, fmt.Sprintf("%s: %s", s.Facts.Name, found.Message))
		}
	}
	if len(failing) > 0 {
		c.Message = strings.Join(failing, "; ")
		return c
	}
	c.Is, c.Reason, c.Message = true, replicas.ReasonValidMetricFound, fmt.Sprintf("the autoscalers of %d clusters compute their replicas",
		len(running))
	return c
}

// limited: autoscalers would go beyond their bounds.
func (in *situation) limited() record.Condition {
	c := record.Condition{Type: autoscalingv2.ScalingLimited}
	var each []string
	for _, s := range in.running() {
		if found := of(s.own, autoscalingv2.ScalingLimited); found.Status == corev1.ConditionTrue {
			c.Reason = found.Reason
			each = append(each, s.Facts.Name)
		}
	}
	if len(each) > 0 {
		c.Is, c.Message = true, "the bounds or policies of these clusters limit their desired replicas: "+strings.Join(each, ", ")
		return c
	}
	c.Reason, c.Message = replicas.ReasonDesiredWithinRange, "the desired replicas of every cluster are within its bounds"
	return c
}

func of(hpa *autoscalingv2.HorizontalPodAutoscaler,
	kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	return summary.Condition(&v1alpha1.FederatedHPAStatus{Conditions: hpa.Status.Conditions}, kind)
}

func (in *situation) visible() record.Condition {
	dark := in.words(func(s *site) string {
		if s.presence != assignment.Silent || s.Drained() {
			return ""
		}
		return fmt.Sprintf("%s (%s)", s.Facts.Name, s.reason)
	})
	if len(dark) > 0 {
		return record.Condition{Type: v1alpha1.FleetVisible, Reason: replicas.ReasonClusterUnreachable,
			Message: "these clusters cannot be seen, keep their bounds and continue to scale within them: " + strings.Join(dark, ", ")}
	}
	message := "all clusters are visible"
	if slices.ContainsFunc(in.sites, func(s site) bool { return s.presence == assignment.Silent }) {
		message = "all clusters are visible that are not drained"
	}
	return record.Condition{Type: v1alpha1.FleetVisible, Is: true, Reason: replicas.ReasonAllClustersVisible, Message: message}
}

// words are what is to be said of each cluster, but for those of which it is nothing.
func (in *situation) words(say func(*site) string) []string {
	var all []string
	for s := range sight.Pointers(in.sites) {
		if word := say(s); word != "" {
			all = append(all, word)
		}
	}
	return all
}

func (in *situation) supported() record.Condition {
	each := in.words(func(s *site) string {
		if s.reason != reasonNotSupported {
			return ""
		}
		return s.Facts.Name + ": " + s.message
	})
	return record.Condition{Type: v1alpha1.MetricNotSupported, Is: len(each) > 0, Reason: reasonNotSupported,
		Message: strings.Join(each, "; ")}.
		Else("MetricsSupported", "every cluster supports the metrics")
}

func (p *plan) unassigned() record.Condition {
	why := "the thresholds of the clusters add up to less"
	if slices.ContainsFunc(p.sites, func(s site) bool { return s.Standing.Standing != taints.Free }) {
		why = "some clusters are cordoned or drained, and the others may not have more"
	}
	return record.Condition{Type: v1alpha1.MaxNotAssignable, Is: p.step.Unassigned > 0, Reason: "Thresholds",
		Message: fmt.Sprintf("%d of maxReplicas cannot be assigned: %s", p.step.Unassigned, why)}.
		Else("AllAssigned", "all of maxReplicas is assigned")
}

// thresholds: clusters that take part get less of maxReplicas than was set. A part that is silent keeps what it has.
func (p *plan) thresholds() record.Condition {
	var shares []record.Share
	for s := range sight.Pointers(p.sites) {
		if s.inSight() && assignment.Policy(p.Object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType) != assignment.Duplicated {
			shares = append(shares, record.Share{Cluster: s.Facts.Name, Gets: s.next.Max, Floor: s.Preference.Floor})
		}
	}
	return record.Thresholds(shares, p.Object.Spec.MaxReplicas, "maxReplicas")
}

func (p *plan) saturated() record.Condition {
	return record.Condition{Type: v1alpha1.AllClustersSaturated, Is: p.step.AllSaturated, Reason: "NoRoom",
		Message: "Pods of a cluster are unschedulable, and no other cluster can take over their part of maxReplicas"}.
		Else("Room", "replicas that one cluster cannot host fit into another")
}

// stuck: Pods have waited for the delay, and their replicas cannot go to other clusters.
func (in *situation) stuck() record.Condition {
	return record.Stuck(in.words(func(s *site) string { return in.Stuck(s.Cluster, s.unschedulableSince(in.Now)) }))
}

func (p *plan) weighed() record.Condition {
	dynamic := p.Object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType == v1alpha1.AssignmentDynamicWeighted
	return record.Condition{Type: v1alpha1.CapacityUnknown, Is: p.step.Unweighted && dynamic, Reason: "CapacityUnknown",
		Message: "the capacity of no cluster is known, so all have the same weight"}.
		Else("CapacityKnown", "the capacity of clusters is known")
}

// stateOf returns what the autoscalers are doing together.
func stateOf(s *v1alpha1.FederatedHPAStatus) v1alpha1.FederatedHPAState {
	isFalse := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType) bool {
		return summary.Condition(s, kind).Status == corev1.ConditionFalse
	}
	switch {
	case isFalse(autoscalingv2.AbleToScale):
		return v1alpha1.StateFailing
	case isFalse(v1alpha1.Acting):
		return v1alpha1.StateObserving
	case s.CurrentReplicas == 0:
		return v1alpha1.StatePaused
	case isFalse(autoscalingv2.ScalingActive) && summary.Condition(s, autoscalingv2.ScalingActive).Reason != replicas.ReasonScalingDisabled:
		return v1alpha1.StateFailing
	case isFalse(v1alpha1.FleetVisible):
		return v1alpha1.StateHeld
	case summary.Condition(s, autoscalingv2.ScalingLimited).Status == corev1.ConditionTrue:
		return v1alpha1.StateLimited
	default:
		return v1alpha1.StateActive
	}
}

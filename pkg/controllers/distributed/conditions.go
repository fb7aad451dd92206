// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// condition is one that the status is to have.
type condition struct {
	kind            autoscalingv2.HorizontalPodAutoscalerConditionType
	is              bool
	reason, message string
	// rare: it is not spoken of until it was true once.
	rare bool
}

// conditions say whether the object can do its work.
func (in *situation) conditions(step *assignment.Step, s *v1alpha1.FederatedHPAStatus) []autoscalingv2.HorizontalPodAutoscalerCondition {
	all := []condition{in.able()}
	if in.fault == nil {
		all = append(all, in.active(), in.limited(), in.visible(), in.supported(), unassigned(step), saturated(step),
			in.weighed(step), in.unmatched())
	}
	var told []autoscalingv2.HorizontalPodAutoscalerCondition
	for _, c := range all {
		if before := summary.Condition(s, c.kind); c.is || !c.rare || before.Type != "" {
			told = append(told, c.after(before, metav1.NewTime(in.now)))
		}
	}
	return told
}

// after is the condition as it is stored, where it was that before.
func (c condition) after(before autoscalingv2.HorizontalPodAutoscalerCondition, now metav1.Time) autoscalingv2.HorizontalPodAutoscalerCondition {
	fresh := autoscalingv2.HorizontalPodAutoscalerCondition{
		Type: c.kind, Status: corev1.ConditionFalse, LastTransitionTime: now,
		Reason: summary.Brief(c.reason, summary.LongestReason), Message: summary.Brief(c.message, summary.LongestCondition),
	}
	if c.is {
		fresh.Status = corev1.ConditionTrue
	}
	if before.Status == fresh.Status {
		fresh.LastTransitionTime = before.LastTransitionTime
	}
	return fresh
}

// able: the bounds can be read and written everywhere.
func (in *situation) able() condition {
	c := condition{kind: autoscalingv2.AbleToScale}
	var own *fault
	switch {
	case errors.As(in.fault, &own):
		c.reason, c.message = own.reason, own.message
		return c
	case in.fault != nil:
		c.reason, c.message = reasonFailedReadHub, in.fault.Error()
		return c
	}
	var failing []string
	parts := 0
	for i := range in.sites {
		s := &in.sites[i]
		if s.reason == reasonFailedWrite || s.presence == assignment.Leaving && s.refused.message != "" {
			failing = append(failing, s.facts.Name+": "+cmp.Or(s.refused.message, s.message))
		}
		if s.presence != assignment.Leaving {
			parts++
		}
	}
	switch {
	case len(failing) > 0:
		c.reason, c.message = reasonFailedWrite, "bounds can not be written: "+strings.Join(failing, "; ")
	case parts == 0:
		c.reason, c.message = reasonNoClusters, in.nowhere()
	default:
		c.is, c.reason, c.message = true, replicas.ReasonReadyForNewScale, fmt.Sprintf("the bounds are split among %d clusters", parts)
	}
	return c
}

// nowhere says why no cluster takes part.
func (in *situation) nowhere() string {
	var each []string
	for i := range in.sites {
		each = append(each, fmt.Sprintf("%s: %s", in.sites[i].facts.Name, in.sites[i].reason))
	}
	if len(each) == 0 {
		return "no registered cluster is selected: look at spec.clusterAffinity, and at the registrations"
	}
	return "no cluster takes part: " + strings.Join(each, "; ")
}

// active: the autoscalers of the clusters can compute what to do.
func (in *situation) active() condition {
	c := condition{kind: autoscalingv2.ScalingActive}
	running := in.running()
	if len(running) == 0 {
		c.reason, c.message = replicas.ReasonScalingDisabled, "no cluster runs a replica under its autoscaler yet"
		return c
	}
	var failing []string
	for _, s := range running {
		found := of(s.own, autoscalingv2.ScalingActive)
		if found.Status != corev1.ConditionTrue && found.Status != "" {
			c.reason = found.Reason
			failing = append(failing, fmt.Sprintf("%s: %s", s.facts.Name, found.Message))
		}
	}
	if len(failing) > 0 {
		c.message = strings.Join(failing, "; ")
		return c
	}
	c.is, c.reason, c.message = true, replicas.ReasonValidMetricFound, fmt.Sprintf("the autoscalers of %d clusters compute their replicas", len(running))
	return c
}

// limited: autoscalers would go beyond their bounds.
func (in *situation) limited() condition {
	c := condition{kind: autoscalingv2.ScalingLimited}
	var each []string
	for _, s := range in.running() {
		if found := of(s.own, autoscalingv2.ScalingLimited); found.Status == corev1.ConditionTrue {
			c.reason = found.Reason
			each = append(each, s.facts.Name)
		}
	}
	if len(each) > 0 {
		c.is, c.message = true, "the bounds or policies of these clusters limit what they would run: "+strings.Join(each, ", ")
		return c
	}
	c.reason, c.message = replicas.ReasonDesiredWithinRange, "what every cluster wants is within its bounds"
	return c
}

func of(hpa *autoscalingv2.HorizontalPodAutoscaler, kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	return summary.Condition(&v1alpha1.FederatedHPAStatus{Conditions: hpa.Status.Conditions}, kind)
}

func (in *situation) visible() condition {
	c := condition{kind: v1alpha1.FleetVisible}
	var dark []string
	for i := range in.sites {
		if s := &in.sites[i]; s.presence == assignment.Silent {
			dark = append(dark, fmt.Sprintf("%s (%s)", s.facts.Name, s.reason))
		}
	}
	if len(dark) > 0 {
		c.reason = replicas.ReasonClusterUnreachable
		c.message = "these clusters keep their bounds, and scale on within them, while they cannot be seen: " + strings.Join(dark, ", ")
		return c
	}
	c.is, c.reason, c.message = true, replicas.ReasonAllClustersVisible, "all clusters can be seen"
	return c
}

func (in *situation) supported() condition {
	c := condition{kind: v1alpha1.MetricNotSupported, rare: true, reason: "MetricsSupported", message: "every cluster knows the metrics"}
	var each []string
	for i := range in.sites {
		if s := &in.sites[i]; s.reason == reasonNotSupported {
			each = append(each, s.facts.Name+": "+s.message)
		}
	}
	if len(each) > 0 {
		c.is, c.reason, c.message = true, reasonNotSupported, strings.Join(each, "; ")
	}
	return c
}

func unassigned(step *assignment.Step) condition {
	c := condition{kind: v1alpha1.MaxNotAssignable, rare: true, is: step.Unassigned > 0, reason: "AllAssigned", message: "the clusters have all of maxReplicas"}
	if c.is {
		c.reason, c.message = "Thresholds", fmt.Sprintf("the thresholds of the clusters leave %d of maxReplicas to nobody", step.Unassigned)
	}
	return c
}

func saturated(step *assignment.Step) condition {
	c := condition{kind: v1alpha1.AllClustersSaturated, rare: true, is: step.AllSaturated, reason: "Room", message: "what one cluster can not host another one can"}
	if c.is {
		c.reason, c.message = "NoRoom", "Pods of a cluster find no node, and no other cluster can take their part of maxReplicas"
	}
	return c
}

func (in *situation) weighed(step *assignment.Step) condition {
	byCapacity := in.object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType == v1alpha1.AssignmentDynamicWeighted
	c := condition{kind: v1alpha1.CapacityUnknown, rare: true, is: byCapacity && step.Unweighted, reason: "CapacityKnown", message: "it is known what clusters can host"}
	if c.is {
		c.reason, c.message = "CapacityUnknown", "it is not known of any cluster what it can host, so all have the same weight"
	}
	return c
}

// stateOf is what the autoscalers are doing together.
func stateOf(s *v1alpha1.FederatedHPAStatus) v1alpha1.FederatedHPAState {
	isFalse := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType) bool {
		return summary.Condition(s, kind).Status == corev1.ConditionFalse
	}
	switch {
	case isFalse(autoscalingv2.AbleToScale):
		return v1alpha1.StateFailing
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

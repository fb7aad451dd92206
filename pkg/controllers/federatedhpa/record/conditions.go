// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Condition is one that a status should have.
type Condition struct {
	Type            autoscalingv2.HorizontalPodAutoscalerConditionType
	Is              bool
	Reason, Message string
	// Quiet: it is as it should be, and left out where it always was.
	Quiet bool
}

// Else returns the condition where it is True. Otherwise all is well, as these say: that is Quiet.
func (c Condition) Else(reason, message string) Condition {
	if c.Is {
		return c
	}
	return Condition{Type: c.Type, Quiet: true, Reason: reason, Message: message}
}

// Set returns the conditions with this one. It keeps the time of its last change.
func (c Condition) Set(all []autoscalingv2.HorizontalPodAutoscalerCondition,
	now time.Time) []autoscalingv2.HorizontalPodAutoscalerCondition {
	fresh := autoscalingv2.HorizontalPodAutoscalerCondition{
		Type: c.Type, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: now},
		Reason: summary.Brief(c.Reason, summary.LongestReason), Message: summary.Brief(c.Message, summary.LongestCondition),
	}
	if c.Is {
		fresh.Status = corev1.ConditionTrue
	}
	i := slices.IndexFunc(all, func(known autoscalingv2.HorizontalPodAutoscalerCondition) bool { return known.Type == c.Type })
	switch {
	case i >= 0:
		if all[i].Status == fresh.Status {
			fresh.LastTransitionTime = all[i].LastTransitionTime
		}
		all[i] = fresh
	case !c.Quiet:
		all = append(all, fresh)
	}
	return all
}

// Unset returns the conditions without one that no longer applies.
func Unset(all []autoscalingv2.HorizontalPodAutoscalerCondition,
	kind autoscalingv2.HorizontalPodAutoscalerConditionType) []autoscalingv2.HorizontalPodAutoscalerCondition {
	return slices.DeleteFunc(all, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == kind })
}

// Unmatched is whether an entry of the preferences has no effect, as it selects none of the clusters.
func Unmatched(preferences []v1alpha1.TargetClusterAutoscalingPreference, clusters []assignment.ClusterFacts) Condition {
	found := assignment.Unmatched(preferences, clusters)
	return Condition{Type: v1alpha1.PreferenceUnmatched, Is: found != "", Reason: ReasonSelectsNoCluster, Message: found}.
		Else("AllMatched", "every entry of clusterAutoscalingPreference selects a cluster")
}

// Stuck is whether replicas that find no node cannot go to other clusters; each says of one cluster why.
func Stuck(each []string) Condition {
	return Condition{Type: v1alpha1.PendingNotMovable, Is: len(each) > 0, Reason: "PodManagementPolicy",
		Message: "Pods find no node, and their replicas cannot go to other clusters: " + strings.Join(each, "; ")}.
		Else("Movable", "replicas that find no node can go to other clusters")
}

// Skewed is whether clocks of clusters are off by more than is believed; each names one.
func Skewed(each []string) Condition {
	const believed = connection.MostClockOffset
	return Condition{Type: v1alpha1.ClockSkewed, Is: len(each) > 0, Reason: "ClockSkewed",
		Message: fmt.Sprintf("clocks are off by %v or more, of which %v is taken into account; synchronize them with the hub's: %s",
			believed, believed, strings.Join(each, ", "))}.
		Else("ClocksAgree", "the clock of every cluster is near enough to the hub's")
}

// Acting is whether decisions are carried out, by the mode of the object; would is what else would be done.
func Acting(mode v1alpha1.AutoscalingMode, would string) Condition {
	c := Condition{Type: v1alpha1.Acting, Reason: string(mode)}
	switch mode {
	case v1alpha1.ModeObserve:
		c.Message = "spec.mode is Observe: " + would
	case v1alpha1.ModePaused:
		c.Message = "spec.mode is Paused: nothing is decided"
	default:
		c.Is, c.Quiet, c.Reason, c.Message = true, true, string(v1alpha1.ModeActive), "what is decided is carried out"
	}
	return c
}

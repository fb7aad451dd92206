// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

type condition = autoscalingv2.HorizontalPodAutoscalerCondition

// say notes a condition that is not spoken of until it was as it should not be. It keeps the time of its last change.
func (in *situation) say(s *v1alpha1.FederatedHPAStatus, now condition, bad bool) {
	now.Message = summary.Brief(now.Message, summary.LongestCondition)
	now.LastTransitionTime = metav1.Time{Time: in.now}
	i := slices.IndexFunc(s.Conditions, func(c condition) bool { return c.Type == now.Type })
	switch {
	case i < 0 && bad:
		s.Conditions = append(s.Conditions, now)
	case i >= 0:
		if s.Conditions[i].Status == now.Status {
			now.LastTransitionTime = s.Conditions[i].LastTransitionTime
		}
		s.Conditions[i] = now
	}
}

// unsay takes a condition away that does not apply any more.
func unsay(s *v1alpha1.FederatedHPAStatus, kind autoscalingv2.HorizontalPodAutoscalerConditionType) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c condition) bool { return c.Type == kind })
}

// sayUnmatched says whether an entry of the preferences has no effect, as it selects none of the clusters.
func (in *situation) sayUnmatched(s *v1alpha1.FederatedHPAStatus) {
	rd := in.object.Spec.ReplicaDistribution
	switch {
	case rd == nil:
		unsay(s, v1alpha1.PreferenceUnmatched)
		return
	case in.parts == nil:
		return // which clusters are selected could not be read
	}
	facts := make([]assignment.ClusterFacts, 0, len(in.parts))
	for i := range in.parts {
		facts = append(facts, in.parts[i].facts)
	}
	now := condition{
		Type: v1alpha1.PreferenceUnmatched, Status: corev1.ConditionFalse,
		Reason: reasonAllMatched, Message: "every entry of clusterAutoscalingPreference selects a cluster",
	}
	found := assignment.Unmatched(rd.ClusterAutoscalingPreference, facts)
	if found != "" {
		now.Status, now.Reason, now.Message = corev1.ConditionTrue, reasonSelectsNoCluster, found
	}
	in.say(s, now, found != "")
}

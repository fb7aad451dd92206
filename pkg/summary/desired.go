// SPDX-License-Identifier: Apache-2.0

package summary

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Desired is how many replicas were decided on; nil: that is not known. A status has no place for that, and says 0. Of distributed mode it
// is not known while that of a cluster that counts is not.
func Desired(s *v1alpha1.FederatedHPAStatus) *int32 {
	for i := range s.Clusters {
		c := &s.Clusters[i]
		counts := c.State != v1alpha1.ClusterExcluded && c.State != v1alpha1.ClusterConflict && ptr.Deref(c.CurrentReplicas, 0) > 0
		if counts && c.HPA != nil && DesiredOf(c.HPA) == nil {
			return nil
		}
	}
	return DesiredOf(&autoscalingv2.HorizontalPodAutoscalerStatus{
		LastScaleTime: s.LastScaleTime, CurrentReplicas: s.CurrentReplicas, DesiredReplicas: s.DesiredReplicas, Conditions: s.Conditions,
	})
}

// DesiredOf is the same of a HorizontalPodAutoscaler. What it decided last stays in its status whatever fails; so 0 is a decision if it has
// scaled once, or can scale, and either nothing runs or it knows what its metrics ask for.
func DesiredOf(s *autoscalingv2.HorizontalPodAutoscalerStatus) *int32 {
	is := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType) bool {
		for i := range s.Conditions {
			if s.Conditions[i].Type == kind {
				return s.Conditions[i].Status == corev1.ConditionTrue
			}
		}
		return false
	}
	if s.DesiredReplicas != 0 || s.LastScaleTime != nil ||
		is(autoscalingv2.AbleToScale) && (s.CurrentReplicas == 0 || is(autoscalingv2.ScalingActive)) {
		return new(s.DesiredReplicas)
	}
	return nil
}

// MultidimDesired is how many replicas the goals of a MultidimPodAutoscaler call for, by what its status repeats of the FederatedHPA that
// it owns; nil: that is not known. Without goals it is as many as there are.
func MultidimDesired(o *v1alpha1.MultidimPodAutoscaler) *int32 {
	s := &o.Status
	if o.Spec.Goals == nil {
		return new(s.DesiredReplicas)
	}
	as := autoscalingv2.HorizontalPodAutoscalerStatus{
		LastScaleTime: s.LastScaleTime, CurrentReplicas: s.CurrentReplicas, DesiredReplicas: s.DesiredReplicas,
	}
	for i := range s.Conditions {
		as.Conditions = append(as.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{
			Type: autoscalingv2.HorizontalPodAutoscalerConditionType(s.Conditions[i].Type), Status: corev1.ConditionStatus(s.Conditions[i].Status),
		})
	}
	return DesiredOf(&as)
}

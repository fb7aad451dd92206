// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// sayFull says whether the clusters can take what is divided among them. Where they always could, it is not spoken of.
func (in *situation) sayFull(v *division, s *v1alpha1.FederatedHPAStatus) {
	now := condition{Type: v1alpha1.AllClustersSaturated, Status: corev1.ConditionTrue}
	switch {
	case v.Unplaced > 0:
		now.Reason, now.Message = reasonThresholds, "every cluster that can be told is at its autoscalingMaxThreshold"
	case v.Saturated:
		now.Reason, now.Message = reasonNoRoom, "no cluster is known to have room for some of the replicas; they were given out all the same"
	default:
		now.Status, now.Reason, now.Message = corev1.ConditionFalse, reasonRoom, "the clusters can take their replicas"
	}
	in.say(s, now, now.Status == corev1.ConditionTrue)
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// unmatched: an entry of the preferences has no effect, as it selects none of the clusters.
func (in *situation) unmatched() condition {
	var selected []assignment.ClusterFacts
	for i := range in.sites {
		if s := &in.sites[i]; s.reason != reasonNotSelected {
			selected = append(selected, s.facts)
		}
	}
	c := condition{
		kind: v1alpha1.PreferenceUnmatched, rare: true,
		reason: "AllMatched", message: "every entry of clusterAutoscalingPreference selects a cluster",
	}
	if found := assignment.Unmatched(in.object.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference, selected); found != "" {
		c.is, c.reason, c.message = true, reasonSelectsNoCluster, found
	}
	return c
}

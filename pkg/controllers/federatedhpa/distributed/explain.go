// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// explain returns what is stored of the decision that the status tells of; where nothing could be decided, that is what it was.
func (p *plan) explain(status *v1alpha1.FederatedHPAStatus) *v1alpha1.DecisionExplanation {
	before := p.Object.Status.Explanation
	if p.fault != nil {
		return before
	}
	sites := make(map[string]*site, len(p.sites))
	for s := range sight.Pointers(p.sites) {
		sites[s.Facts.Name] = s
	}
	preferences := p.Object.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference
	return explanation.OfSplit(&explanation.Split{
		Snapshot: p.decided, Step: p.step, Stays: p.stays, Current: status.CurrentReplicas, Desired: status.DesiredReplicas, Before: before,
		Why: func(cluster string) string {
			s := sites[cluster]
			if s.reason == "" && s.Standing.Standing != taints.Free {
				return s.Standing.String()
			}
			return s.reason
		},
		Entries: func(cluster string) []int32 {
			all := assignment.Selecting(preferences, sites[cluster].Facts)
			return all[:min(len(all), explanation.MostEntries)]
		},
	})
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// record returns the record of the decision.
func (p *plan) record(spec *v1alpha1.FederatedHPASpec) *recording.Record {
	o := p.Object
	s := &recording.Split{Snapshot: p.decided, Said: p.said, Stays: p.stays, Usual: p.options.usual()}
	for i := range p.sites {
		s.Entries = append(s.Entries, assignment.Selecting(spec.FederatedHPAAssignment.ClusterAutoscalingPreference, p.sites[i].Facts))
	}
	r := recording.NewSplit(recording.Object{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}, spec, o.Generation, s)
	if spec.Mode == v1alpha1.ModeObserve {
		r.Outcome = recording.Observed
	}
	return r
}

// SPDX-License-Identifier: Apache-2.0

package central

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// record returns the record of the decision, before anything came of it.
func (p *plan) record(spec *v1alpha1.FederatedHPASpec) *recording.Record {
	o := p.Object
	return recording.New(recording.Object{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}, spec, p.asked, &p.Decision)
}

// finish notes in the record what came of the decision, and what the status says of the clusters.
func (o *outcome) finish(s *v1alpha1.FederatedHPAStatus) *recording.Record {
	r := o.recorded
	switch {
	case o.Object.Spec.Mode == v1alpha1.ModeObserve:
		r.Outcome = recording.Observed
	case !o.Rescale:
	case o.Status.LastScaleTime.Equal(o.Object.Status.LastScaleTime):
		r.Outcome = recording.Refused
	default:
		r.Outcome, r.After = recording.Scaled, o.Replicas
	}
	facts := make(map[string]recording.Facts, len(s.Clusters))
	for i := range s.Clusters {
		facts[s.Clusters[i].Name] = recording.Facts{Ready: s.Clusters[i].ReadyReplicas, Age: s.Clusters[i].MetricAgeSeconds}
	}
	r.Facts = make([]recording.Facts, len(r.Question.Clusters))
	for i := range r.Question.Clusters {
		r.Facts[i] = facts[r.Question.Clusters[i].Name]
	}
	return r
}

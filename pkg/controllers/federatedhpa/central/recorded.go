// SPDX-License-Identifier: Apache-2.0

package central

import (
	"slices"

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
	r.Facts = make([]recording.Facts, len(r.Question.Clusters))
	clusters := s.Clusters // in the order of the question, which has those that take part
	for i := range r.Facts {
		of := func(c v1alpha1.ClusterStatus) bool { return c.Name == r.Question.Clusters[i].Name }
		if n := slices.IndexFunc(clusters, of); n >= 0 {
			r.Facts[i] = recording.Facts{Ready: clusters[n].ReadyReplicas, Age: clusters[n].MetricAgeSeconds}
			clusters = clusters[n+1:]
		}
	}
	return r
}

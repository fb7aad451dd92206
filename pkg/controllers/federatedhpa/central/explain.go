// SPDX-License-Identifier: Apache-2.0

package central

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// decided is the decision, for its explanation. What could be written of it is another matter.
func (o *outcome) decided() *explanation.Decided {
	return &explanation.Decided{
		Spec:        &o.Object.Spec.HorizontalPodAutoscalerSpec,
		At:          o.Now,
		Current:     o.scale.Replicas,
		Replicas:    o.plan.Replicas,
		Copies:      o.copies(),
		Explanation: o.plan.Explanation,
		Age:         o.ageIn,
	}
}

// explain returns what is stored of the decision; where the workload could not be read, that is what it was.
func (o *outcome) explain() *v1alpha1.DecisionExplanation {
	if o.scale.Err != nil {
		return o.Object.Status.Explanation
	}
	d := o.decided()
	if o.division != nil {
		d.Division = o.dividedTo()
	}
	return explanation.Of(d)
}

// dividedTo is what the clusters get: what they were told by now; in mode Observe, what they would be told.
func (o *outcome) dividedTo() *explanation.Division {
	v := &explanation.Division{}
	if d := o.Object.Spec.ReplicaDistribution; d != nil {
		v.Policy = string(d.Type)
	}
	for p := range sight.Pointers(o.parts) {
		to, divided := o.division.Replicas[p.Facts.Name]
		if !divided {
			continue
		}
		if o.Object.Spec.Mode != v1alpha1.ModeObserve {
			to = p.told() + o.gained(p)
		}
		c := v1alpha1.ClusterDivision{Name: p.Facts.Name, From: p.told(), To: to}
		switch {
		case p.state != v1alpha1.ClusterActive:
			c.Why = string(p.state)
		case p.Standing.Standing != taints.Free:
			c.Why = p.Standing.String()
		}
		v.Clusters = append(v.Clusters, c)
	}
	return v
}

// gained is by how much the cluster's part of the replicas was changed. What moves between clusters may wait, and writes may be refused.
func (o *outcome) gained(p *part) int32 {
	if p.to == nil || p.err != nil {
		return 0
	}
	return o.division.gain(p)
}

// ageIn is the age of a cluster's oldest sample, in seconds; nil: it has none.
func (o *outcome) ageIn(cluster string) *int32 {
	for p := range sight.Pointers(o.parts) {
		if p.Facts.Name == cluster {
			return o.metricAge(p)
		}
	}
	return nil
}

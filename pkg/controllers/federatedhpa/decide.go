// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// decision is what the fleet should run, and, where each cluster is told, how much of it where.
type decision struct {
	replicas.Decision
	// division is nil where the hub is told.
	division *division
}

// writes says whether somebody is to be told a new number.
func (d *decision) writes() bool {
	return d.Rescale || d.division != nil && len(d.division.changes) > 0
}

// decide answers a situation.
func decide(in situation) decision {
	for i := range in.parts {
		in.parts[i].saturate(&in)
	}
	d := decision{Decision: replicas.Decide(in.question())}
	if in.object.Spec.ReplicaDistribution != nil && in.scale.Err == nil {
		d.division = in.divide(d.Replicas)
	}
	return d
}

// SPDX-License-Identifier: Apache-2.0

package central

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// absences are those of one object, by cluster, for one generation: what is edited may name another workload.
type absences struct {
	generation int64
	byCluster  map[string]workload.Absence
}

// of are the absences as far as they are of this generation.
func (a absences) of(generation int64) absences {
	if a.generation != generation {
		return absences{generation: generation}
	}
	return a
}

// recallAbsences notes which clusters lack the workload as they said before, so that they are not asked. Nor does a silent one take
// part that lacked it: nothing of it was ever counted.
func (in *situation) recallAbsences() {
	for p := range sight.Pointers(in.parts) {
		known, lacks := in.absences.byCluster[p.Facts.Name]
		switch {
		case lacks && (p.state != v1alpha1.ClusterActive || !known.Due(in.Now)):
			p.Absent = known.Why
		case p.state != v1alpha1.ClusterActive && p.Before.Reason == record.ReasonTargetNotFound:
			p.exclude(p.Before.Reason, p.Before.Message)
		}
	}
}

// noteAbsences remembers which clusters lack the workload, for the next reconcile.
func (in *situation) noteAbsences() {
	noted := map[string]workload.Absence{}
	for p := range sight.Pointers(in.parts) {
		if p.Absent == nil {
			continue
		}
		known, lacked := in.absences.byCluster[p.Facts.Name]
		switch {
		case !lacked:
			known = workload.Absence{Why: p.Absent, First: in.Now, Last: in.Now}
		case known.Due(in.Now) && p.Silence == nil: // it was asked
			known.Why, known.Last = p.Absent, in.Now
		}
		noted[p.Facts.Name] = known
	}
	in.absences.byCluster = noted
}

// SPDX-License-Identifier: Apache-2.0

package central

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
)

// mostAbsent is for how long at most a cluster without the workload is not asked for it. So what is found nowhere takes next to nothing
// of the requests that members answer.
const mostAbsent = 5 * time.Minute

// absence is of a workload that a cluster lacked when it was first, and last, asked for it.
type absence struct {
	why         error
	first, last time.Time
}

// due reports whether to ask again: after twice the time, each time.
func (a absence) due(now time.Time) bool {
	return now.Sub(a.last) >= min(a.last.Sub(a.first), mostAbsent)
}

// absences are those of one object, by cluster, for one generation: what is edited may name another workload.
type absences struct {
	generation int64
	byCluster  map[string]absence
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
		case lacks && (p.state != v1alpha1.ClusterActive || !known.due(in.Now)):
			p.Absent = known.why
		case p.state != v1alpha1.ClusterActive && p.Before.Reason == record.ReasonTargetNotFound:
			p.exclude(p.Before.Reason, p.Before.Message)
		}
	}
}

// noteAbsences remembers which clusters lack the workload, for the next reconcile.
func (in *situation) noteAbsences() {
	noted := map[string]absence{}
	for p := range sight.Pointers(in.parts) {
		if p.Absent == nil {
			continue
		}
		known, lacked := in.absences.byCluster[p.Facts.Name]
		switch {
		case !lacked:
			known = absence{why: p.Absent, first: in.Now, last: in.Now}
		case known.due(in.Now) && p.Silence == nil: // it was asked
			known.why, known.last = p.Absent, in.Now
		}
		noted[p.Facts.Name] = known
	}
	in.absences.byCluster = noted
}

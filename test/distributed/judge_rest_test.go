// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// rests judges a fleet that is at rest, with all clusters in sight.
func (j *judge) rests() {
	j.did("rest: %s", j.f)
	j.rested = append(j.rested, j.f.String())
	mins, any := int64(0), false
	for _, m := range j.f.members {
		lower, upper := m.bounds()
		if !j.takesPart(m) {
			if upper > 0 {
				j.fail("%s takes no part, and has %d to %d", m.name, lower, upper)
			}
			continue
		}
		any = true
		j.checkTainted(m)
		if ceiling := j.ceiling(m); !j.duplicated() && upper > ceiling {
			j.fail("%s has a maximum of %d, and its threshold is %d", m.name, upper, ceiling)
		}
		mins += int64(lower)
		if j.duplicated() && !j.restricted(m) && (upper != j.spec().MaxReplicas || lower != max(j.floor(), *j.spec().MinReplicas)) {
			j.fail("P1: %s has %d to %d at rest, and the fleet has %d to %d", m.name, lower, upper, *j.spec().MinReplicas, j.spec().MaxReplicas)
		}
	}
	if !any || j.duplicated() {
		return
	}
	j.checkAwake()
	if least := int64(*j.spec().MinReplicas); mins < min(least, j.possible()) {
		j.fail("the minima are %d of %d at rest", mins, least)
	}
	j.checkSpilled()
}

// checkAwake: the fleet does not rest at zero while something waits, but where somebody has switched it off.
func (j *judge) checkAwake() {
	s, runs, rooms := j.spec(), int32(0), false
	for _, m := range j.f.members {
		runs += m.replicas()
		rooms = rooms || j.takesPart(m) && !j.restricted(m)
	}
	if j.toZero() && s.ScalingToZeroMode != v1alpha1.ScalingToZeroNative && rooms && runs == 0 && j.f.external && j.f.waiting() > 0 {
		j.fail("nothing runs, and %d waits", j.f.waiting())
	}
}

// possible returns what the minima can add up to: that of a full cluster is not raised.
func (j *judge) possible() (n int64) {
	for _, m := range j.f.members {
		lower, upper := m.bounds()
		if m.pending() > 0 || j.restricted(m) {
			upper = lower
		}
		n += int64(upper)
	}
	return n
}

// doubts: a cluster of which nobody knows the room, or asks for it, is thought to be full, and will be retried some time.
func (j *judge) doubts() bool {
	asked := assignment.Policy(j.policy()).ByCapacity()
	return slices.ContainsFunc(j.f.hub.object.Status.Clusters, func(c v1alpha1.ClusterStatus) bool {
		return c.State == v1alpha1.ClusterSaturated &&
			slices.ContainsFunc(j.f.members, func(m *member) bool { return m.name == c.Name && (!m.roomKnown || !asked) })
	})
}

// restless: clusters are emptied in an order, but nobody else carries their load, so that they are given back what was taken from them.
// That is a known issue: neither is right.
func (j *judge) restless() bool {
	strategy := v1alpha1.RebalanceCapacity
	if r := j.spec().FederatedHPAAssignment.Rebalance; r != nil {
		strategy = r.Strategy
	}
	return j.strict() && !j.f.shared && strategy != v1alpha1.RebalanceNone
}

// ceiling is the greatest maximum that a cluster may have.
func (j *judge) ceiling(m *member) int32 {
	p, _ := j.preference(m)
	if p.AutoscalingMaxThreshold == nil {
		return j.spec().MaxReplicas
	}
	return min(j.spec().MaxReplicas, *p.AutoscalingMaxThreshold)
}

// checkSum: the maxima of the clusters that count are the fleet's, but for what thresholds leave to nobody. Where minima
// are split first, clusters without one get no maximum either.
func (j *judge) checkSum() {
	if !j.settled(4) || j.blind() || slices.ContainsFunc(j.f.members, j.stays) {
		return
	}
	assignable, any := int64(0), false
	for _, m := range j.f.members {
		if j.takesPart(m) && !j.of(m).gone && m.inSight() {
			most := j.ceiling(m)
			if _, upper := m.bounds(); j.restricted(m) {
				most = min(most, upper)
			}
			assignable += int64(most)
			any = true
		}
	}
	most, first := min(assignable, int64(j.spec().MaxReplicas)), j.spec().FederatedHPAAssignment.DistributionOrder
	switch sum := j.sum(); {
	case sum > int64(j.spec().MaxReplicas):
		j.fail("P1: the maxima are %d of %d", sum, j.spec().MaxReplicas)
	case any && !j.duplicated() && sum != most && first != v1alpha1.DistributionMinFirst && !j.refusals() && !j.leftovers():
		j.fail("P1: the maxima are %d of %d that can be assigned", sum, most)
	}
}

// refusals: a cluster refuses writes, which the hub can know only if it has something to write.
func (j *judge) refusals() bool {
	return slices.ContainsFunc(j.f.members, func(m *member) bool { return m.refuses })
}

// leftovers: a cluster that takes no part any more cannot be told so.
func (j *judge) leftovers() bool {
	return slices.ContainsFunc(j.f.members, func(m *member) bool { return m.registered && !j.takesPart(m) && m.ours() != nil })
}

// checkSpilled: no Pod waits where its policy could have moved it to a cluster with room.
func (j *judge) checkSpilled() {
	if p := j.policy(); p == v1alpha1.AssignmentStaticWeighted {
		return
	}
	for _, m := range j.f.members {
		if !j.takesPart(m) || m.pending() == 0 {
			continue
		}
		_, upper := m.bounds()
		for _, other := range j.f.members {
			p, _ := j.preference(other)
			_, has := other.bounds()
			full := p.AutoscalingMaxThreshold != nil && has >= *p.AutoscalingMaxThreshold
			roomy := other.roomKnown && other.pending() == 0 && int(has) < other.room && !full
			if other != m && j.takesPart(other) && !j.restricted(other) && roomy && upper > 1 {
				j.fail("Pods of %s wait, and %s has room for more than its maximum of %d", m.name, other.name, has)
			}
		}
	}
}

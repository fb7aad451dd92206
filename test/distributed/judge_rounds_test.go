// SPDX-License-Identifier: Apache-2.0

package distributed

// What comes of it in the members.

// autoscaled judges what a member's own autoscaler does; the world is locked.
func (j *judge) autoscaled(m *member, from, to int32) {
	j.scaleWrites++
	j.did("autoscale %s %d to %d", m.name, from, to)
	if j.f.isCentral() {
		return
	}
	if _, upper := m.bounds(); to < from && from <= upper && j.of(m).shouldHold && j.settled(2) {
		j.fail("P7: %s shrinks from %d to %d, and a cluster of lower priority runs more than its minimum", m.name, from, to)
	}
}

// checkHolds: with a strict order, those clusters and only those are held that have one of a lower priority below them
// which could shrink.
func (j *judge) checkHolds() {
	for _, m := range j.f.members {
		j.of(m).shouldHold = false
	}
	if !j.strict() {
		return
	}
	for _, m := range j.f.members {
		if !j.takesPart(m) || !m.inSight() || m.ours() == nil || !j.of(m).had || m.replicas() == 0 {
			continue
		}
		should, unsure := false, false
		for _, other := range j.f.members {
			if other != m && j.priority(other) < j.priority(m) {
				should = should || j.canShrink(other) && j.of(other).had
				unsure = unsure || other.ours() != nil && (!other.inSight() || other.refuses) || other.touched
			}
		}
		j.of(m).shouldHold = should
		switch {
		case !j.settled(2):
		case should && !m.held() && m.canShrinkSince(j):
			j.fail("P7: %s is not held, and a cluster of lower priority runs more than its minimum", m.name)
		case m.held() && !should && !unsure:
			j.fail("P7: %s is held for nobody", m.name)
		}
	}
}

// canShrinkSince: it ran more than its minimum already when the reconcile began.
func (m *member) canShrinkSince(j *judge) bool {
	lower, _ := m.bounds()
	return j.of(m).had && min(m.replicas(), j.of(m).ran) > lower
}

// afterRound judges what runs. Where minima have moved, it takes a round or two until they do.
func (j *judge) afterRound() {
	if j.f.isCentral() {
		j.short = 0
		return
	}
	sum, possible, unknown := int32(0), int32(0), false
	for _, m := range j.f.members {
		v := j.of(m)
		if m.replicas() > 0 {
			v.paused = false
		}
		if m.registered && m.selected {
			sum += m.replicas()
		}
		if lower, _ := m.bounds(); !v.paused && m.selected && m.inSight() {
			possible += lower
		}
		unknown = unknown || v.paused && !m.inSight()
	}
	least := min(*j.spec().MinReplicas, possible)
	if !j.settled(4) || j.f.awayFor > 0 || sum >= least || unknown || j.duplicated() {
		j.short = 0
		return
	}
	if j.short++; j.short > 3 {
		j.fail("P6: %d run of at least %d", sum, least)
	}
}

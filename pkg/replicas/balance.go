// SPDX-License-Identifier: Apache-2.0

package replicas

// balance weighs what Pods use against what they should, with the Pods whose use is not known on the side that changes
// less: if the others use too little, they are taken to be busy; if the others use too much, to be idle.
type balance struct {
	groups    groups
	tolerance tolerance
	current   int32
	target    int64
	// value is the usage in the target's unit, with these Pods filled in. An error ends it.
	value func(filled) (int64, error)
}

// Outcome is why a metric asks for the replicas that it asks for.
type Outcome string

// The outcomes.
const (
	// OutcomeScaled: the ratio says how many.
	OutcomeScaled Outcome = "Scaled"
	// OutcomeTolerated: the value is within the tolerance, and nothing changes.
	OutcomeTolerated Outcome = "WithinTolerance"
	// OutcomeTurned: the Pods without a value, filled in, would turn the direction, and nothing changes.
	OutcomeTurned Outcome = "MissingDecide"
	// OutcomeAgainst: there are so many more or fewer Pods than replicas that the number goes against the ratio, and nothing changes.
	OutcomeAgainst Outcome = "AgainstRatio"
	// OutcomeLagging: clusters have yet to hear what the fleet was told, and nothing changes.
	OutcomeLagging Outcome = "Lagging"
	// OutcomeUnproven: the value is too low and may be incomplete, so that more Pods than replicas prove nothing.
	OutcomeUnproven Outcome = "NotAboveReplicas"
)

// filled says which Pods without known use take part.
type filled struct {
	busy    bool // the missing ones, as busy
	idle    bool // the missing ones, as idle
	unready bool // the unready ones, as idle
}

// weighed is what a balance comes to, and how.
type weighed struct {
	replicas int32
	outcome  Outcome
	// value is that of the counted Pods; second that with others filled in, if refilled.
	value, second int64
	refilled      bool
	filled        filled
	// entries are the Pods that the last ratio is multiplied by.
	entries int
}

// over returns a value as a part of the target.
func (b *balance) over(value int64) float64 { return float64(value) / float64(b.target) }

func (b *balance) weigh() (weighed, error) {
	value, err := b.value(filled{})
	if err != nil {
		return weighed{}, err
	}
	first := b.over(value)
	w := weighed{value: value, replicas: b.current, outcome: OutcomeTolerated, entries: b.groups.counted}
	w.filled.unready = b.groups.unready > 0 && first > 1
	if b.groups.missing == 0 && !w.filled.unready {
		if !b.tolerance.within(first) {
			w.replicas, w.outcome = ceil32(first*float64(b.groups.counted)), OutcomeScaled
		}
		return w, nil
	}
	if b.groups.missing > 0 {
		w.filled.busy, w.filled.idle = first < 1, first > 1
	}
	if w.second, err = b.value(w.filled); err != nil {
		return weighed{}, err
	}
	w.refilled, w.entries = true, b.groups.entries(w.filled)
	switch second := b.over(w.second); {
	case b.tolerance.within(second):
	case turned(first, second):
		w.outcome = OutcomeTurned
	default:
		w.replicas, w.outcome = b.onward(second, ceil32(second*float64(w.entries)))
	}
	return w, nil
}

// turned reports whether the Pods filled in changed the direction.
func turned(first, second float64) bool {
	return first < 1 && second > 1 || first > 1 && second < 1
}

// onward is the number of replicas, unless it goes against the ratio because there are more or fewer Pods than replicas.
func (b *balance) onward(ratio float64, replicas int32) (int32, Outcome) {
	if ratio < 1 && replicas > b.current || ratio > 1 && replicas < b.current {
		return b.current, OutcomeAgainst
	}
	return replicas, OutcomeScaled
}

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"time"
)

// State is what the next decision must know of the past. The zero value knows nothing: the first decision then takes the
// replicas that it finds for the last recommendation, and so takes none away within the window.
type State struct {
	// Recommendations are what the metrics called for, before windows and bounds, in no order. Nil: never asked.
	Recommendations []Recommendation
	// ScaleUps and ScaleDowns are the changes made, in no order.
	ScaleUps, ScaleDowns []Change
}

// Recommendation is a number of replicas that the metrics called for.
type Recommendation struct {
	Replicas int32
	At       time.Time
}

// Change is by how many replicas the fleet was changed, without a sign.
type Change struct {
	Replicas int32
	At       time.Time
	// Outdated says that no policy reaches it any more, so that it may be replaced.
	Outdated bool
}

// begin returns the state with a first recommendation, if it has none.
func (s State) begin(current int32, now time.Time) State {
	if s.Recommendations == nil {
		s.Recommendations = []Recommendation{{current, now}}
	}
	return s
}

// recommend returns the state with one more recommendation. It replaces the last one that is too old to count, so that
// the list is about as long as the window has syncs.
func (s State) recommend(r Recommendation, old func(Recommendation) bool) State {
	s.Recommendations = put(s.Recommendations, r, old)
	return s
}

// put returns a copy of the list with the value in the place of the last one that is free, or at the end.
func put[T any](list []T, value T, free func(T) bool) []T {
	list = slices.Concat(list, []T{value})
	last := len(list) - 1
	for i := last - 1; i >= 0; i-- {
		if free(list[i]) {
			list[i] = value
			return list[:last]
		}
	}
	return list
}

// changed returns the list of changes with one more. Those that the longest period does not reach are marked, and one of
// the marked is replaced.
func changed(list []Change, replicas int32, longest time.Duration, now time.Time) []Change {
	list = slices.Clone(list)
	for i := range list {
		if list[i].At.Before(now.Add(-longest)) {
			list[i].Outdated = true
		}
	}
	return put(list, Change{Replicas: replicas, At: now}, func(c Change) bool { return c.Outdated })
}

// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sort"
	"time"
)

// Runs are the runs in a span of time.
type Runs struct {
	First, Last time.Time // both zero if there are none, the same if there is one
	Count       int       // at most the limit that was asked for
	More        bool      // there are more than Count; Last is the last of all nevertheless
}

// Between returns the runs later than after, up to and with until. It counts
// up to limit, 1 or more, so that its cost is bounded however long the span
// is; finding the last costs some 40 calls of Next beyond that.
func (s Schedule) Between(after, until time.Time, limit int) Runs {
	var runs Runs
	for next := s.Next(after); !next.After(until); next = s.Next(next) {
		if runs.Count == limit {
			runs.More, runs.Last = true, s.last(next, until)
			return runs
		}
		if runs.Count == 0 {
			runs.First = next
		}
		runs.Last = next
		runs.Count++
	}
	return runs
}

// last finds the last run up to until by bisection, given one that is not later.
func (s Schedule) last(known, until time.Time) time.Time {
	seconds := int(until.Sub(known) / time.Second)
	beyond := sort.Search(seconds, func(i int) bool {
		return s.Next(known.Add(time.Duration(i) * time.Second)).After(until)
	})
	return s.Next(known.Add(time.Duration(beyond-1) * time.Second))
}

// epoch begins the years over which a schedule as such is judged, whatever the
// day is today: what is accepted now is accepted tomorrow. Its fourth year is a
// leap year.
func epoch() time.Time { return time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Period is the shortest time between two of a thousand runs, as the wall
// clock counts: a change of the clock does not shorten it.
func (s Schedule) Period() time.Duration {
	last := s.nextWall(epoch())
	next := s.nextWall(last)
	shortest := next.Sub(last)
	for range 998 {
		last, next = next, s.nextWall(next)
		shortest = min(shortest, next.Sub(last))
	}
	return shortest
}

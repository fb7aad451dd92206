// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

// day is longer than any zone's distance from UTC.
const day = 24 * time.Hour

// Next returns the first run after this instant, never at it. It is in the
// schedule's zone, and never zero.
func (s Schedule) Next(after time.Time) time.Time {
	_, offset := after.In(s.zone).Zone()
	wall := after.UTC().Add(time.Duration(offset) * time.Second)
	for {
		wall = s.nextWall(wall)
		// While a repeated hour runs for the second time, its minutes have had their run.
		if run := s.instant(wall); run.After(after) {
			return run
		}
	}
}

// nextWall is the next minute that matches. Walls are written as if in UTC,
// where every day has 24 hours. The library gives up after five years, and
// around 2100 leap days are eight years apart.
func (s Schedule) nextWall(wall time.Time) time.Time {
	next := s.cron.Next(wall)
	for ; next.IsZero(); next = s.cron.Next(wall) {
		wall = wall.AddDate(5, 0, 0)
	}
	return next
}

// instant is the first moment at which the zone's clock shows this wall or
// more. So the first of two passes counts, and what is skipped falls on the
// moment of the skip.
func (s Schedule) instant(wall time.Time) time.Time {
	from := wall.Add(-day).In(s.zone)
	for {
		_, offset := from.Zone()
		shown := wall.Add(-time.Duration(offset) * time.Second)
		end := evenUntil(from)
		if end.IsZero() || shown.Before(end) {
			return latest(from, shown.In(s.zone))
		}
		from = end
	}
}

// evenUntil returns a time up to which the zone keeps its offset, or zero if
// it always will. ZoneBounds takes every year for 365 days: on the last day of
// a leap year its end lies behind.
func evenUntil(from time.Time) time.Time {
	_, end := from.ZoneBounds()
	if !end.IsZero() && !end.After(from) {
		return from.Truncate(time.Hour).Add(time.Hour)
	}
	return end
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

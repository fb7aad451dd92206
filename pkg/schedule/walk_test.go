// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// rule is a schedule written twice: as an expression, and as what it means.
type rule struct {
	expression string
	at         func(hour, minute int) bool
	on         func(date time.Time) bool // nil for every day
}

func rules() []rule {
	half := func(_, minute int) bool { return minute == 30 }
	return []rule{
		{"30 * * * *", half, nil},
		{"0 0 * * *", func(hour, minute int) bool { return hour == 0 && minute == 0 }, nil},
		{"30 2 * * *", func(hour, minute int) bool { return hour == 2 && half(hour, minute) }, nil},
		{"0,30 1-3 * * *", func(hour, minute int) bool { return hour >= 1 && hour <= 3 && minute%30 == 0 }, nil},
		{"59 23 * * 6", func(hour, minute int) bool { return hour == 23 && minute == 59 },
			func(d time.Time) bool { return d.Weekday() == time.Saturday }},
		{"15 0 * * sun,fri", func(hour, minute int) bool { return hour == 0 && minute == 15 },
			func(d time.Time) bool { return d.Weekday() == time.Sunday || d.Weekday() == time.Friday }},
		{"30 1 31,1 * *", func(hour, minute int) bool { return hour == 1 && half(hour, minute) },
			func(d time.Time) bool { return d.Day() == 31 || d.Day() == 1 }},
	}
}

// denseRules run so often that they are walked in the hours around transitions only.
func denseRules() []rule {
	return []rule{
		{"* * * * *", func(int, int) bool { return true }, nil},
		{"*/15 * * * *", func(_, minute int) bool { return minute%15 == 0 }, nil},
	}
}

func (r rule) matches(wall int64) bool {
	minute := wall / 60 % 1440
	return r.at(int(minute/60), int(minute%60)) && (r.on == nil || r.on(time.Unix(wall, 0).UTC()))
}

// walk goes from one instant to another minute by minute, reading the
// zone's clock. Whenever the clock shows more than it ever did, the minutes it
// has now come to, or passed over, have their run. Returned are the instants
// when each rule runs, in Unix seconds.
func walk(zone *time.Location, from, to time.Time, rules []rule) [][]int64 {
	runs := make([][]int64, len(rules))
	start := from.Add(-26 * time.Hour).Unix()
	highest := shown(zone, start)
	for now := start + 60; now <= to.Unix(); now += 60 {
		for wall := shown(zone, now); highest < wall; {
			highest += 60
			for i, r := range rules {
				last := len(runs[i]) - 1
				if now > from.Unix() && r.matches(highest) && (last < 0 || runs[i][last] != now) {
					runs[i] = append(runs[i], now)
				}
			}
		}
	}
	return runs
}

// shown returns what the zone's clock shows, as if it were a time in UTC.
func shown(zone *time.Location, now int64) int64 {
	_, offset := time.Unix(now, 0).In(zone).Zone()
	return now + int64(offset)
}

// checkWalk holds Next and Between to the walk.
func checkWalk(t *testing.T, zone *time.Location, from, to time.Time, rules []rule) {
	t.Helper()
	for i, want := range walk(zone, from, to, rules) {
		s := parsed(t, rules[i].expression, zone)
		at := from
		for _, run := range want {
			if before := s.Next(time.Unix(run-1, 0)); before.Unix() != run {
				t.Fatalf("%s: %q: a second before %s Next is %s", zone, rules[i].expression, show(zone, run), before)
			}
			if at = s.Next(at); at.Unix() != run {
				t.Fatalf("%s: %q: got a run at %s, want it at %s", zone, rules[i].expression, at, show(zone, run))
			}
		}
		if next := s.Next(at); !next.After(to) {
			t.Fatalf("%s: %q: got a run at %s, want none", zone, rules[i].expression, next)
		}
		checkBetween(t, s, from, to, want)
	}
}

func checkBetween(t *testing.T, s Schedule, from, to time.Time, want []int64) {
	t.Helper()
	const limit = 5
	got := s.Between(from, to, limit)
	if got.Count != min(len(want), limit) || got.More != (len(want) > limit) {
		t.Fatalf("%s: Between(%s, %s) = %+v, want %d runs", s.zone, from, to, got, len(want))
	}
	if len(want) > 0 && (got.First.Unix() != want[0] || got.Last.Unix() != want[len(want)-1]) {
		t.Fatalf("%s: Between(%s, %s) = %+v, want them from %s to %s", s.zone, from, to, got, show(s.zone, want[0]),
			show(s.zone, want[len(want)-1]))
	}
}

func show(zone *time.Location, unix int64) string { return time.Unix(unix, 0).In(zone).String() }

var (
	walkFrom = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	walkTo   = time.Date(2038, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// distinct returns the zones of tzdata, but of those whose data say the same
// from 2020 to 2037 only one.
func distinct(t *testing.T) []*time.Location {
	t.Helper()
	var zones []*time.Location
	seen := map[string]bool{}
	for name, data := range tzdata(t) {
		zone, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if key := behaviour(zone); !seen[key] {
			seen[key] = true
			zones = append(zones, zone)
		}
	}
	return zones
}

// behaviour is all that the zone says of these years: each offset, and until
// when it is said to hold.
func behaviour(zone *time.Location) string {
	var key []int64
	for at := walkFrom.AddDate(0, 0, -2); at.Before(walkTo.AddDate(0, 0, 2)); {
		_, end := at.In(zone).ZoneBounds()
		_, offset := at.In(zone).Zone()
		if next := []int64{int64(offset), end.Unix()}; len(key) < 2 || key[len(key)-2] != next[0] || key[len(key)-1] != next[1] {
			key = append(key, next...)
		}
		if end.IsZero() { // it is so for good
			break
		}
		if at = at.Add(6 * time.Hour); end.After(at) { // on the last day of a leap year it is said to have ended
			at = end
		}
	}
	return fmt.Sprint(key)
}

// transitions are the quarters of days in which the clock is changed.
func transitions(zone *time.Location) []time.Time {
	var found []time.Time
	const step = 6 * time.Hour
	for at := walkFrom; at.Before(walkTo); at = at.Add(step) {
		if shown(zone, at.Add(step).Unix())-shown(zone, at.Unix()) != int64(step/time.Second) {
			found = append(found, at)
		}
	}
	return found
}

// Every matching minute of the wall clock runs exactly once, in every zone, on
// the days around every change of its clock, and on one day without; with -short
// around one of sixteen.
func TestNextAroundTransitions(t *testing.T) {
	every, least := 1, 1200
	if testing.Short() {
		every, least = 16, 60 // of each zone, not the same ones of all
	}
	zones := distinct(t)
	var walked atomic.Int64
	t.Run("zones", func(t *testing.T) {
		for i, zone := range zones {
			t.Run(zone.String(), func(t *testing.T) {
				t.Parallel()
				for j, at := range append(transitions(zone), walkFrom) {
					if (i+j)%every > 0 {
						continue
					}
					checkWalk(t, zone, at.Add(-26*time.Hour), at.Add(32*time.Hour), rules())
					checkWalk(t, zone, at.Add(-2*time.Hour), at.Add(10*time.Hour), denseRules())
					walked.Add(1)
				}
			})
		}
	})
	t.Logf("%d zones, %d changes and beginnings", len(zones), walked.Load())
	if len(zones) < 75 || walked.Load() < int64(least) {
		t.Errorf("walked %d zones and %d days, want more: is tzdata whole?", len(zones), walked.Load())
	}
}

// The same for every minute from 2020 to 2037.
func TestNextOverYears(t *testing.T) {
	if testing.Short() {
		t.Skip("every minute of 18 years takes minutes: `make test-full` walks them, and -short only the days around changes")
	}
	for _, zone := range distinct(t) {
		t.Run(zone.String(), func(t *testing.T) {
			t.Parallel()
			checkWalk(t, zone, walkFrom, walkTo, rules())
		})
	}
}

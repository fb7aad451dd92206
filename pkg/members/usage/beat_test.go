// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// fakeCycle is a member whose answer has a version, which grows at each change.
// It is built another way than the beat: it knows all its changes beforehand.
type fakeCycle struct {
	changes []time.Time
}

// newCycle changes every period from start+phase on, each time late by up to jitter.
func newCycle(r *rand.Rand, start time.Time, phase, period, jitter, length time.Duration) *fakeCycle {
	c := &fakeCycle{}
	for at := phase; at < length; at += period {
		late := time.Duration(0)
		if jitter > 0 {
			late = time.Duration(r.Int64N(int64(jitter)))
		}
		c.changes = append(c.changes, start.Add(at+late))
	}
	return c
}

// version returns how many changes there were until then, and when the last was.
func (c *fakeCycle) version(at time.Time) (int, time.Time) {
	n, _ := slices.BinarySearchFunc(c.changes, at, time.Time.Compare)
	if n == 0 {
		return 0, time.Time{}
	}
	return n, c.changes[n-1]
}

// lateness is what following a cycle for some time brought.
type lateness struct {
	late      []time.Duration // of each new answer, by truth
	questions int
	elapsed   time.Duration
	locked    bool
	broken    []string // bounds that did not hold
}

func (l lateness) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(l.late))
	return sorted[int(q*float64(len(sorted)-1))]
}

// perPeriod returns how often was asked; 1 is a plain period.
func (l lateness) perPeriod(period time.Duration) float64 {
	return float64(l.questions) / (float64(l.elapsed) / float64(period))
}

// follow asks when the beat says so, each question taking 5 ms on its way, and
// measures from the given time on.
func follow(b *beat, start, from, until time.Time, version func(time.Time) (int, time.Time)) lateness {
	var l lateness
	seen := -1
	for at := start; at.Before(until); at = b.next {
		now, since := version(at)
		q := question{sent: at, received: at.Add(5 * time.Millisecond), changed: seen >= 0 && now != seen}
		seen = now
		if q.changed {
			late := q.received.Sub(since)
			if !at.Before(from) {
				l.late = append(l.late, late)
			}
			if bound := b.lateAtMost(q); late > bound {
				l.broken = append(l.broken, fmt.Sprintf("after %v: late %v, bound %v", at.Sub(from), late, bound))
			}
		}
		if !at.Before(from) {
			l.questions++
		}
		b.observe(q)
	}
	l.elapsed = until.Sub(from)
	l.locked = b.mode == locked
	return l
}

const resolution = 15 * time.Second

func TestBeatFindsWhenAnswersChange(t *testing.T) {
	start := time.Unix(1e9, 0)
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 1))
		phase := time.Duration(r.Int64N(int64(resolution)))
		c := newCycle(r, start, phase, resolution, 0, 13*time.Hour)
		b := newBeat(resolution)
		l := follow(b, start.Add(resolution), start.Add(5*time.Minute), start.Add(12*time.Hour), c.version)
		if worst := slices.Max(l.late); worst > 2*time.Second+5*time.Millisecond {
			t.Errorf("seed %d: a value was taken %v after it was there, want at most a step of 1.9 s", seed, worst)
		}
		if p50 := l.quantile(0.5); p50 > 950*time.Millisecond {
			t.Errorf("seed %d: median lateness %v, want at most half a step", seed, p50)
		}
		if often := l.perPeriod(resolution); often > 1.02 {
			t.Errorf("seed %d: asked %.3f times per period, want at most 1.02", seed, often)
		}
		if len(l.broken) > 0 {
			t.Fatalf("seed %d: the bound does not hold: %v", seed, l.broken)
		}
	}
}

func TestBeatStandsJitter(t *testing.T) {
	start := time.Unix(1e9, 0)
	for seed := range fleettest.Rounds(100, 10) {
		r := rand.New(rand.NewPCG(seed, 2))
		phase := time.Duration(r.Int64N(int64(resolution)))
		c := newCycle(r, start, phase, resolution, 800*time.Millisecond, 13*time.Hour)
		l := follow(newBeat(resolution), start.Add(resolution), start.Add(resolution), start.Add(12*time.Hour), c.version)
		if p50 := l.quantile(0.5); p50 > 2*time.Second {
			t.Errorf("seed %d: median lateness %v, want at most 2 s", seed, p50)
		}
		if often := l.perPeriod(resolution); often > 1.05 {
			t.Errorf("seed %d: asked %.3f times per period, want at most 1.05", seed, often)
		}
	}
}

func TestBeatThatJumpsIsFoundAgain(t *testing.T) {
	start := time.Unix(1e9, 0)
	for jump := time.Second; jump < resolution; jump += time.Second {
		before := newCycle(nil, start, 0, resolution, 0, time.Hour)
		after := newCycle(nil, start.Add(time.Hour), jump, resolution, 0, 4*time.Hour)
		c := &fakeCycle{changes: append(before.changes, after.changes...)}
		b := newBeat(resolution)
		l := follow(b, start.Add(resolution), start.Add(2*time.Hour), start.Add(3*time.Hour), c.version)
		if p50 := l.quantile(0.5); p50 > time.Second {
			t.Errorf("an hour after a jump by %v the median lateness is %v, want at most 1 s", jump, p50)
		}
	}
}

func TestBeatRestsWhereNoneIsClear(t *testing.T) {
	start := time.Unix(1e9, 0)
	every := func(period time.Duration) func(time.Time) (int, time.Time) {
		return newCycle(nil, start, 3*time.Second, period, 0, 25*time.Hour).version
	}
	r := rand.New(rand.NewPCG(7, 7))
	one, other := every(resolution), newCycle(nil, start, 9*time.Second, resolution, 0, 25*time.Hour).version
	tests := map[string]struct {
		version func(time.Time) (int, time.Time)
		period  time.Duration // observed
	}{
		"it measures four times as slowly": {every(time.Minute), time.Minute},
		"it measures faster than we ask":   {every(10 * time.Second), resolution},
		"it never measures":                {func(time.Time) (int, time.Time) { return 1, start }, resolution},
		"two replicas answer by turns": {func(at time.Time) (int, time.Time) {
			if r.IntN(2) == 0 {
				return one(at)
			}
			n, since := other(at)
			return -n, since
		}, resolution},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBeat(resolution)
			l := follow(b, start.Add(resolution), start.Add(resolution), start.Add(24*time.Hour), tc.version)
			if often := l.perPeriod(resolution); often > 1.05 {
				t.Errorf("asked %.3f times per period, want at most 1.05", often)
			}
			if got := b.observedPeriod().Round(time.Second); got != tc.period {
				t.Errorf("observedPeriod() = %v, want %v", got, tc.period)
			}
		})
	}
}

func TestBeatForgetsWhenInterrupted(t *testing.T) {
	start := time.Unix(1e9, 0)
	c := newCycle(nil, start, 0, resolution, 0, time.Hour)
	b := newBeat(resolution)
	if l := follow(b, start.Add(7*time.Second), start.Add(7*time.Second), start.Add(10*time.Minute), c.version); !l.locked {
		t.Fatal("not locked after 10 minutes")
	}
	now := start.Add(10 * time.Minute)
	b.interrupted(now)
	if want := now.Add(resolution); !b.next.Equal(want) {
		t.Errorf("the next question is due %v after an interruption, want %v", b.next.Sub(now), resolution)
	}
	if late := b.lateAtMost(question{received: now}); late != resolution {
		t.Errorf("lateAtMost = %v after an interruption, want %v: nothing is known", late, resolution)
	}
}

// BenchmarkLateness reports the age that we add to values, phase-locked and at
// a plain period, and how often is asked for it.
func BenchmarkLateness(b *testing.B) {
	start := time.Unix(1e9, 0)
	run := func(b *testing.B, jitter time.Duration, plain bool) {
		var all lateness
		for i := range b.N {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			c := newCycle(r, start, time.Duration(r.Int64N(int64(resolution))), resolution, jitter, 13*time.Hour)
			bt := newBeat(resolution)
			if plain {
				bt.left = 1 << 30
			}
			l := follow(bt, start.Add(resolution), start.Add(resolution), start.Add(12*time.Hour), c.version)
			all.late = append(all.late, l.late...)
			all.questions += l.questions
			all.elapsed += l.elapsed
		}
		b.ReportMetric(all.quantile(0.5).Seconds(), "p50-late-s")
		b.ReportMetric(all.quantile(0.99).Seconds(), "p99-late-s")
		b.ReportMetric(all.perPeriod(resolution), "questions/period")
		b.ReportMetric(0, "ns/op")
	}
	for _, jitter := range []time.Duration{0, 300 * time.Millisecond, time.Second} {
		b.Run(fmt.Sprintf("jitter=%v/locked", jitter), func(b *testing.B) { run(b, jitter, false) })
		b.Run(fmt.Sprintf("jitter=%v/plain", jitter), func(b *testing.B) { run(b, jitter, true) })
	}
}

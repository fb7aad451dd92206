// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const (
	mi = 1 << 20
	gi = 1 << 30
)

// sample is one that was measured a moment before it was asked for.
func sample(cpu, memory int64, at time.Time) Sample {
	return Sample{Amounts: Amounts{cpu, memory}, At: at, Measured: at.Add(-time.Second)}
}

// peaks are how many peaks of memory lie in which bucket, weighed for one time.
func peaks(u *Use, at time.Time) map[int]float64 {
	all := map[int]float64{}
	for i, weight := range u.memory.weights {
		if weight > 0 {
			all[int(u.memory.low)+i] = weight / u.memory.factor(at)
		}
	}
	return all
}

func bucketOf(amount int64) int { return memoryScheme.bucket(float64(amount)) }

func TestAddIgnoresRepeats(t *testing.T) {
	var u Use
	var i Instance
	s := sample(100, gi, noon)
	steps := []struct {
		name   string
		change func(*Sample)
		want   bool
	}{
		{"the first", func(*Sample) {}, true},
		{"the same once more", func(*Sample) {}, false},
		{"asked for again, but not measured", func(s *Sample) { s.At = s.At.Add(time.Minute) }, false},
		{"measured again", func(s *Sample) { s.Measured = s.Measured.Add(time.Minute) }, true},
		{"the member's clock goes back", func(s *Sample) { s.At, s.Measured = s.At.Add(time.Minute), s.Measured.Add(-48*time.Hour) }, true},
		{"our clock goes back", func(s *Sample) { s.At, s.Measured = s.At.Add(-2*time.Minute), s.Measured.Add(time.Minute) }, false},
		{"the member does not say when", func(s *Sample) { s.At, s.Measured = s.At.Add(3*time.Minute), time.Time{} }, true},
		{"nor the next time", func(s *Sample) { s.At = s.At.Add(time.Minute) }, true},
	}
	samples := 0
	for _, step := range steps {
		step.change(&s)
		if got := i.Add(&u, s); got != step.want {
			t.Errorf("%s: taken: %t, want %t", step.name, got, step.want)
		}
		if step.want {
			samples++
		}
		if u.Samples != samples {
			t.Errorf("%s: %d samples, want %d", step.name, u.Samples, samples)
		}
	}
}

// A clock of a member that is ten days ahead changes nothing but which samples are repeats.
func TestAgesByOurClock(t *testing.T) {
	var right, wrong Use
	var a, b Instance
	for n := range 100 {
		s := sample(int64(n), int64(n)*gi, noon.Add(time.Duration(n)*time.Minute))
		a.Add(&right, s)
		s.Measured = s.Measured.Add(10 * 24 * time.Hour)
		b.Add(&wrong, s)
	}
	if !same(right.cpu, wrong.cpu) || !same(right.memory, wrong.memory) || right.First != wrong.First || right.Last != wrong.Last {
		t.Error("the member's clock changes what is remembered")
	}
}

func TestPartsOfASample(t *testing.T) {
	for name, c := range map[string]struct {
		amounts     Amounts
		cpu, memory bool
	}{
		"both":                {amounts: Amounts{5, mi}, cpu: true, memory: true},
		"an idle one":         {amounts: Amounts{0, mi}, cpu: true, memory: true},
		"no CPU":              {amounts: Amounts{None, mi}, memory: true},
		"no memory":           {amounts: Amounts{5, None}, cpu: true},
		"memory of zero":      {amounts: Amounts{5, 0}, cpu: true},
		"more than there is":  {amounts: Amounts{most + 1, most + 1}, cpu: true, memory: true},
		"what never is":       {amounts: Amounts{1<<63 - 1, 1<<63 - 1}, cpu: true, memory: true},
		"neither of the both": {amounts: none()},
	} {
		t.Run(name, func(t *testing.T) {
			var u Use
			var i Instance
			i.Add(&u, Sample{Amounts: c.amounts, At: noon})
			if got := u.Samples == 1 && u.cpu.total > 0 && u.First.Equal(noon) && u.Last.Equal(noon); got != c.cpu {
				t.Errorf("CPU is counted: %t, want %t", got, c.cpu)
			}
			if got := u.memory.total > 0; got != c.memory {
				t.Errorf("memory is counted: %t, want %t", got, c.memory)
			}
			if i.peak > most {
				t.Errorf("peak %d is not bounded", i.peak)
			}
		})
	}
}

// Of each container and day the highest sample of memory counts, once.
func TestMemoryPeaks(t *testing.T) {
	type event struct {
		after  time.Duration
		memory int64
		oom    bool // memory is what was requested
	}
	for name, c := range map[string]struct {
		events []event
		want   map[int64]float64 // by amount
	}{
		"the highest of a day": {
			events: []event{{0, gi, false}, {time.Hour, 3 * gi, false}, {2 * time.Hour, 2 * gi, false}},
			want:   map[int64]float64{3 * gi: 1},
		},
		"as much again is not more": {
			events: []event{{0, gi, false}, {time.Hour, gi, false}},
			want:   map[int64]float64{gi: 1},
		},
		"just before the window ends": {
			events: []event{{0, gi, false}, {window - 1, 2 * gi, false}},
			want:   map[int64]float64{2 * gi: 1},
		},
		"the next day, at half the weight": {
			events: []event{{0, gi, false}, {window, 2 * gi, false}},
			want:   map[int64]float64{gi: 0.5, 2 * gi: 1},
		},
		"windows without samples": {
			events: []event{{0, gi, false}, {3*window + time.Hour, 2 * gi, false}},
			want:   map[int64]float64{gi: 0.125, 2 * gi: 1},
		},
		"killed: a fifth more than was requested": {
			events: []event{{0, gi, false}, {time.Hour, 2 * gi, true}},
			want:   map[int64]float64{2576980377: 1},
		},
		"killed: a fifth more than was used": {
			events: []event{{0, 2 * gi, false}, {time.Hour, gi, true}},
			want:   map[int64]float64{2576980377: 1},
		},
		"killed: 100 MiB more at least": {
			events: []event{{0, 10 * mi, false}, {time.Hour, 20 * mi, true}},
			want:   map[int64]float64{120 * mi: 1},
		},
		"killed twice: not more for that": {
			events: []event{{0, gi, false}, {time.Hour, 2 * gi, true}, {2 * time.Hour, 2 * gi, true}},
			want:   map[int64]float64{2576980377: 1},
		},
		"killed before it was measured": {
			events: []event{{0, 2 * gi, true}},
			want:   map[int64]float64{2576980377: 1},
		},
		"used more than was thought to be needed": {
			events: []event{{0, 2 * gi, true}, {time.Hour, 3 * gi, false}},
			want:   map[int64]float64{3 * gi: 1},
		},
		"the next day the kill is past": {
			events: []event{{0, 2 * gi, true}, {window, gi, false}, {window + 1, 2 * gi, false}},
			want:   map[int64]float64{2576980377: 0.5, 2 * gi: 1},
		},
		"killed with all there is": {
			events: []event{{0, 1<<63 - 1, true}},
			want:   map[int64]float64{most: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var u Use
			var i Instance
			for _, e := range c.events {
				if e.oom {
					i.OOM(&u, e.memory, noon.Add(e.after))
				} else {
					i.Add(&u, sample(None, e.memory, noon.Add(e.after)))
				}
			}
			want := map[int]float64{}
			for amount, weight := range c.want {
				want[bucketOf(amount)] = weight
			}
			fleettest.Same(t, "peaks", want, peaks(&u, i.windowEnd))
		})
	}
}

func TestUseMerge(t *testing.T) {
	var early, late, both Use
	new(Instance).Add(&early, sample(100, gi, noon))
	new(Instance).Add(&late, sample(900, 2*gi, noon.Add(time.Hour)))
	for _, part := range []*Use{{}, &late, &early, {}} {
		both.Merge(part)
	}
	if both.Samples != 2 || both.First != noon || both.Last != noon.Add(time.Hour) {
		t.Errorf("%d samples from %s to %s", both.Samples, both.First, both.Last)
	}
	for part, want := range map[float64]int64{0.4: 100, 1: 900} {
		if bucket, _ := both.cpu.percentile(part); bucket != cpuScheme.bucket(float64(want)/1000) {
			t.Errorf("%g of the CPU lies in bucket %d", part, bucket)
		}
	}
	if len(peaks(&both, noon)) != 2 {
		t.Errorf("peaks %v, want two", peaks(&both, noon))
	}
}

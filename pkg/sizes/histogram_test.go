// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// noon is when tests begin.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestScheme(t *testing.T) {
	for name, c := range map[string]struct {
		scheme scheme
		value  float64
		bucket int
		end    float64
	}{
		"nothing":                           {cpuScheme, 0, 0, 0.01},
		"less than the first bucket":        {cpuScheme, 0.009, 0, 0.01},
		"where the second begins":           {cpuScheme, 0.01, 1, 0.0205},
		"within a bucket":                   {cpuScheme, 0.5, 25, 0.511134},
		"just below the end of a bucket":    {cpuScheme, 0.5111, 25, 0.511134},
		"a bucket's end is in the next one": {cpuScheme, 0.5112, 26, 0.546691},
		"the last but one":                  {cpuScheme, 1000, 174, 1021.109},
		"the last, by where it begins":      {cpuScheme, 1100, 175, 1021.109},
		"more than there are buckets for":   {cpuScheme, 1e9, 175, 1021.109},
		"memory":                            {memoryScheme, 500e6, 25, 511134538},
		"more memory than any":              {memoryScheme, 1e14, 175, 1.021109e12},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.scheme.bucket(c.value); got != c.bucket {
				t.Errorf("%g is in bucket %d, want %d", c.value, got, c.bucket)
			}
			if got := c.scheme.end(c.bucket); math.Abs(got-c.end) > 1e-5*c.end {
				t.Errorf("bucket %d ends at %g, want %g", c.bucket, got, c.end)
			}
		})
	}
}

// Every bucket holds what lies between the end of the one before and its own.
func TestBucketsMeet(t *testing.T) {
	for _, s := range []scheme{cpuScheme, memoryScheme} {
		for b := range buckets - 1 {
			if in := s.bucket(s.end(b) * (1 - 1e-9)); in != b {
				t.Errorf("%g: just below the end of bucket %d lies bucket %d", float64(s), b, in)
			}
			if in := s.bucket(s.end(b) * (1 + 1e-9)); in != b+1 {
				t.Errorf("%g: just above the end of bucket %d lies bucket %d", float64(s), b, in)
			}
		}
	}
}

// added is a sample of a test.
type added struct {
	bucket int
	weight float64
	at     time.Time
}

func histogramOf(samples ...added) (h histogram) {
	for _, s := range samples {
		h.add(s.bucket, s.weight, s.at)
	}
	return h
}

func TestPercentile(t *testing.T) {
	day := noon.Add(halfLife)
	for name, c := range map[string]struct {
		samples []added
		part    float64
		want    int
	}{
		"one sample":                           {[]added{{7, 1, noon}}, 0.5, 7},
		"one sample, all of it":                {[]added{{7, 1, noon}}, 1, 7},
		"half is reached by the first of two":  {[]added{{7, 1, noon}, {9, 1, noon}}, 0.5, 7},
		"more than half by the second":         {[]added{{7, 1, noon}, {9, 1, noon}}, 0.51, 9},
		"two of four, at one instant":          {[]added{{1, 1, noon}, {2, 1, noon}, {3, 1, noon}, {4, 1, noon}}, 0.5, 2},
		"three of four":                        {[]added{{1, 1, noon}, {2, 1, noon}, {3, 1, noon}, {4, 1, noon}}, 0.75, 3},
		"in whatever order they come":          {[]added{{4, 1, noon}, {2, 1, noon}, {1, 1, noon}, {3, 1, noon}}, 0.75, 3},
		"an empty bucket between is passed":    {[]added{{0, 1, noon}, {175, 1, noon}}, 0.6, 175},
		"a day later it weighs twice as much":  {[]added{{1, 1, noon}, {1, 1, noon}, {9, 1, day}}, 0.5, 1},
		"and so two of a day ago are less":     {[]added{{1, 1, noon}, {1, 1, noon}, {9, 1.01, day}}, 0.5, 9},
		"after a hundred days only the newest": {[]added{{1, 1000, noon}, {9, 1, noon.Add(101 * halfLife)}}, 0.001, 9},
		"and of those a half": {
			[]added{{1, 1000, noon}, {9, 1, noon.Add(101 * halfLife)}, {20, 1, noon.Add(101 * halfLife)}}, 0.5, 9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := histogramOf(c.samples...)
			if got, found := h.percentile(c.part); got != c.want || !found {
				t.Errorf("bucket %d (found: %t), want %d", got, found, c.want)
			}
		})
	}
}

func TestEmptyHistogram(t *testing.T) {
	forgotten := histogramOf(added{3, 1, noon}, added{3, 1, noon})
	forgotten.subtract(3, 2, noon)
	light := histogramOf(added{3, 0.00004, noon}, added{4, 0.00004, noon})
	for name, h := range map[string]histogram{"new": {}, "all taken out": forgotten, "too light": light} {
		if bucket, found := h.percentile(0.5); found {
			t.Errorf("%s: bucket %d is found", name, bucket)
		}
	}
	just := histogramOf(added{3, tiny, midnight(20_000)})
	if bucket, found := just.percentile(1); bucket != 3 || !found {
		t.Errorf("bucket %d (found: %t), want 3, which is just heavy enough", bucket, found)
	}
	if len(forgotten.weights) > 0 || forgotten.total != 0 {
		t.Errorf("what was taken out is still there: %v", forgotten)
	}
	light.add(4, 0.0002, noon)
	if bucket, found := light.percentile(0.5); bucket != 4 || !found {
		t.Errorf("bucket %d (found: %t), want 4, which is heavy enough now", bucket, found)
	}
}

func TestSubtract(t *testing.T) {
	h := histogramOf(added{3, 1, noon}, added{5, 1, noon}, added{9, 2, noon})
	h.subtract(9, 1, noon)
	if got, _ := h.percentile(0.34); got != 5 {
		t.Errorf("bucket %d, want 5: three of equal weight are left", got)
	}
	h.subtract(9, 1, noon)
	h.subtract(3, 1, noon)
	if from, to := int(h.low), int(h.low)+len(h.weights); from != 5 || to != 6 {
		t.Errorf("buckets %d to %d are kept, want only 5", from, to-1)
	}
	h.subtract(100, 1, noon)
	if h.total != 0 {
		t.Errorf("weight %g is left, want none: less is never negative", h.total)
	}
}

func TestMerge(t *testing.T) {
	a := histogramOf(added{3, 1, noon}, added{5, 1, noon})
	b := histogramOf(added{40, 1, noon.Add(150 * halfLife)})
	wantA, wantB := histogramOf(added{3, 1, noon}, added{5, 1, noon}), histogramOf(added{40, 1, noon.Add(150 * halfLife)})
	for name, parts := range map[string][]*histogram{"older first": {&a, &b}, "newer first": {&b, &a}, "and an empty one": {&a, {}, &b}} {
		var h histogram
		for _, part := range parts {
			h.merge(part)
		}
		if got, _ := h.percentile(0.01); got != 40 {
			t.Errorf("%s: bucket %d, want 40: the others are too old", name, got)
		}
		h.add(50, 1, noon.Add(150*halfLife))
		if got, _ := h.percentile(0.5); got != 40 {
			t.Errorf("%s: half is reached in bucket %d, want 40", name, got)
		}
	}
	if !same(a, wantA) || !same(b, wantB) {
		t.Error("a merge changed what it merged")
	}
}

// What is merged weighs as much as what was there, if it is as old.
func TestMergeOfOneAge(t *testing.T) {
	for _, later := range []time.Duration{0, halfLife, 150 * halfLife} {
		a, b := histogramOf(added{3, 1, noon.Add(later)}), histogramOf(added{9, 1, noon.Add(later)})
		b.merge(&histogram{})
		a.merge(&b)
		for part, want := range map[float64]int{0.5: 3, 0.51: 9} {
			if got, _ := a.percentile(part); got != want {
				t.Errorf("after %s: %g is reached in bucket %d, want %d", later, part, got, want)
			}
		}
	}
}

func same(a, b histogram) bool {
	return slices.Equal(a.weights, b.weights) && a.total == b.total && a.day == b.day && a.low == b.low
}

// The day of a histogram is that which begins next to its first sample, and changes after a hundred.
func TestDay(t *testing.T) {
	morning := time.Date(2026, 11, 22, 11, 59, 59, 999, time.UTC)
	h := histogramOf(added{1, 1, morning})
	if want := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC); !midnight(h.day).Equal(want) {
		t.Errorf("day %s, want %s", midnight(h.day), want)
	}
	h = histogramOf(added{1, 1, noon})
	first := h.day
	if want := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC); !midnight(first).Equal(want) {
		t.Errorf("day %s, want %s", midnight(h.day), want)
	}
	h.add(1, 1, midnight(first).Add(farthest*halfLife))
	if h.day != first {
		t.Error("the day changed before it was too far away")
	}
	h.add(2, 1, midnight(first).Add(farthest*halfLife+1))
	if h.day != first+farthest {
		t.Errorf("the day is %d, want %d", h.day, first+farthest)
	}
}

// After years nothing is left of what was seen, wherever it was.
func TestForgotten(t *testing.T) {
	for _, bucket := range []int{0, 40, 175} {
		h := histogramOf(added{40, 1, noon}, added{41, 1, noon}, added{bucket, 1, noon.Add(1000 * halfLife)})
		if got, found := h.percentile(0.01); got != bucket || !found || len(h.weights) != 1 {
			t.Errorf("bucket %d (found: %t) of %d, want %d, the only one", got, found, len(h.weights), bucket)
		}
	}
}

// What is kept is what was seen: samples in a list, sorted each time, are the judge. Weights are equal at one instant, so
// that parts are reached exactly.
func TestPercentileOfList(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		var list []added
		for n, at := 1+r.IntN(40), midnight(20_000); n > 0; n-- {
			if r.IntN(3) == 0 {
				at = at.Add(time.Duration(r.IntN(4)) * halfLife)
			}
			list = append(list, added{r.IntN(buckets), 1, at})
		}
		h := histogramOf(list...)
		for _, quarter := range []int{1, 2, 3, 4} {
			if got, _ := h.percentile(float64(quarter) / 4); got != ofList(list, quarter) {
				t.Fatalf("seed %d: %d quarters are reached in bucket %d, want %d", seed, quarter, got, ofList(list, quarter))
			}
		}
	}
}

// ofList compares four times the weight with the quarters of all: powers of two, and so without rounding.
func ofList(list []added, quarters int) int {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b added) int { return a.bucket - b.bucket })
	weight := func(s added) float64 { return math.Ldexp(1, int(s.at.Sub(midnight(20_000))/halfLife)) }
	total, sum := 0.0, 0.0
	for _, s := range list {
		total += weight(s)
	}
	for i, s := range list {
		sum += weight(s)
		if i+1 < len(list) && list[i+1].bucket == s.bucket {
			continue
		}
		if 4*sum >= float64(quarters)*total {
			return s.bucket
		}
	}
	return list[len(list)-1].bucket
}

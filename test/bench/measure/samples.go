// SPDX-License-Identifier: Apache-2.0

// Package measure asks a server many times, and tells what each answer cost:
// the asker in time, the server in cpu and memory.
package measure

import (
	"fmt"
	"math"
	"slices"
)

// Samples are one figure, measured again and again.
type Samples []float64

// Median is the middle one, or between the two in the middle; NaN of none.
func (s Samples) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Quantile is the least that a share of 0 to 1 of the samples does not exceed; NaN of none.
func (s Samples) Quantile(share float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(share*float64(len(sorted))))-1))]
}

// Over is each sample by the peer's of the same round. A round that lacks one is left out.
func (s Samples) Over(peer Samples) Samples {
	ratios := Samples{}
	for i := range min(len(s), len(peer)) {
		if ratio := s[i] / peer[i]; !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
			ratios = append(ratios, ratio)
		}
	}
	return ratios
}

// Per is each sample by a unit.
func (s Samples) Per(unit float64) Samples {
	all := make(Samples, len(s))
	for i, v := range s {
		all[i] = v / unit
	}
	return all
}

// Less is each sample less the peer's of the same round. A round that lacks one is left out.
func (s Samples) Less(peer Samples) Samples {
	rest := Samples{}
	for i := range min(len(s), len(peer)) {
		rest = append(rest, s[i]-peer[i])
	}
	return rest
}

// String is the median with the least and the greatest, as in "1.5 (1.4–1.7)".
func (s Samples) String() string {
	if len(s) == 0 {
		return "–"
	}
	if len(s) == 1 {
		return Short(s[0])
	}
	return fmt.Sprintf("%s (%s–%s)", Short(s.Median()), Short(slices.Min(s)), Short(slices.Max(s)))
}

// Short writes a number in three digits or a few more.
func Short(value float64) string {
	switch size := math.Abs(value); {
	case math.IsNaN(value):
		return "–"
	case size >= 100 || value == math.Trunc(value):
		return fmt.Sprintf("%.0f", value)
	case size >= 10:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.2g", value)
	}
}

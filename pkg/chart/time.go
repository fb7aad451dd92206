// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"
	"time"
)

const day = 24 * 3600 // seconds

// intervals are those between ticks of time, in seconds.
var intervals = [...]float64{1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, day, 2 * day, 7 * day}

// newTimeAxis goes from the first value to the last, with ticks at round times.
func newTimeAxis(values []float64, from, to float64) axis {
	a := axis{from: from, to: to, high: 1}
	if len(values) > 0 {
		a.low, a.high = slices.Min(values), slices.Max(values)
	}
	if !(a.high > a.low) {
		a.high = a.low + 1
	}
	const most = 8
	step := math.Ceil((a.high-a.low)/most/(30*day)) * 30 * day
	for _, interval := range intervals {
		if (a.high-a.low)/interval <= most {
			step = interval
			break
		}
	}
	for at := math.Ceil(a.low/step) * step; at <= a.high; at += step {
		a.ticks = append(a.ticks, at)
	}
	a.words = func(at float64) string { return moment(at, step) }
	return a
}

// moment is a time as short as the distance of ticks allows.
func moment(at, step float64) string {
	t := time.Unix(int64(at), 0).UTC()
	switch {
	case step >= day || math.Mod(at, day) == 0:
		return t.Format("2 Jan")
	case step >= 60:
		return t.Format("15:04")
	}
	return t.Format("15:04:05")
}

// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"
	"strconv"
)

// axis maps values to pixels.
type axis struct {
	low, high float64 // values at the ends
	from, to  float64 // pixels there
	log       bool
	ticks     []float64
	words     func(float64) string // of a tick; nil: the usual ones
}

func (a axis) name(tick float64) string {
	if a.words != nil {
		return a.words(tick)
	}
	return label(tick)
}

func newAxis(values []float64, from, to float64) axis {
	const decades = 15 // as a factor
	if len(values) == 0 || slices.Min(values) <= 0 || slices.Max(values)/slices.Min(values) < decades {
		return newLinearAxis(values, from, to)
	}
	a := axis{from: from, to: to, log: true}
	a.span(slices.Min(values), slices.Max(values))
	a.ticks = logTicks(a.low, a.high)
	return a
}

// newLinearAxis is never logarithmic.
func newLinearAxis(values []float64, from, to float64) axis {
	a := axis{from: from, to: to, high: 1}
	if len(values) > 0 {
		a.span(slices.Min(values), slices.Max(values))
	}
	a.ticks = ticks(a.low, a.high)
	return a
}

// newAxisAt has ticks at the values themselves, if they are few and multiply:
// sizes are chosen so, and nothing was measured between them.
func newAxisAt(values []float64, from, to float64) axis {
	const most, multiply, margin = 8, 4, 0.06
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	n := len(distinct)
	if n < 2 || n > most || distinct[0] <= 0 || distinct[n-1]/distinct[0] < multiply || crowded(distinct) {
		return newAxis(values, from, to)
	}
	more := math.Pow(distinct[n-1]/distinct[0], margin)
	return axis{low: distinct[0] / more, high: distinct[n-1] * more, from: from, to: to, log: true, ticks: distinct}
}

// crowded is true where the labels of values on a logarithmic axis would touch.
func crowded(values []float64) bool {
	const room = 0.1 // of the axis
	span := math.Log(values[len(values)-1] / values[0])
	for i, v := range values[1:] {
		if math.Log(v/values[i])/span < room {
			return true
		}
	}
	return false
}

// span sets round ends.
func (a *axis) span(low, high float64) {
	switch {
	case a.log:
		a.low, a.high = roundDown(low), roundUp(high)
	case low != 0 || high != 0:
		step := stepFor(max(0, high) - min(0, low))
		a.low, a.high = math.Floor(min(0, low)/step)*step, math.Ceil(max(0, high)/step)*step
	}
}

// roundDown is the greatest that is no more, of 1, 2 and 5 times the powers of ten.
func roundDown(v float64) float64 {
	const slack = 1e-9 // of logarithms and divisions
	power := math.Pow(10, math.Floor(math.Log10(v)+slack))
	for _, factor := range []float64{5, 2} {
		if v >= factor*power*(1-slack) {
			return factor * power
		}
	}
	return power
}

// roundUp is the least that is no less; see roundDown.
func roundUp(v float64) float64 { return 1 / roundDown(1/v) }

func (a axis) at(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = (math.Log10(v) - math.Log10(a.low)) / (math.Log10(a.high) - math.Log10(a.low))
	}
	return a.from + share*(a.to-a.from)
}

// logTicks are powers of ten, and their double and fivefold too if those are few.
func logTicks(low, high float64) []float64 {
	const many = 100 // as a factor
	factors := []float64{1, 2, 5}
	if high/low > many {
		factors = factors[:1]
	}
	var all []float64
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high*1.001; power *= 10 {
		for _, factor := range factors {
			if v := factor * power; v >= low*0.999 && v <= high*1.001 {
				all = append(all, v)
			}
		}
	}
	return all
}

func ticks(low, high float64) []float64 {
	var all []float64
	step := stepFor(high - low)
	for i := math.Round(low / step); i*step <= high+step/100; i++ {
		all = append(all, i*step)
	}
	return all
}

// stepFor is 1, 2 or 5 times a power of ten, so that there are five steps or some more.
func stepFor(span float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, factor := range []float64{1, 2, 5} {
		if span/(factor*power) <= 8 {
			return factor * power
		}
	}
	return 10 * power
}

func label(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

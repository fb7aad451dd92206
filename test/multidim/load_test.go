// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	tick = 15 * time.Second
	sync = 4 // ticks between two reconciles of sizes
	late = 2 // ticks by which samples are late
)

// load is the mean use, in cores, that is asked for at a time.
type load func(at time.Duration) float64

func steady(cores float64) load { return func(time.Duration) float64 { return cores } }

func step(before, after float64, when time.Duration) load {
	return func(at time.Duration) float64 {
		if at >= when {
			return after
		}
		return before
	}
}

// wave is a sine around a mean; amplitude is a part of that. Below zero nothing is asked for.
func wave(mean, amplitude float64, period time.Duration) load {
	return func(at time.Duration) float64 {
		return max(0, mean*(1+amplitude*math.Sin(2*math.Pi*at.Hours()/period.Hours())))
	}
}

// bursts begin at a time in each period.
func bursts(low, high float64, period, begin, length time.Duration) load {
	return func(at time.Duration) float64 {
		if since := at%period - begin; since >= 0 && since < length {
			return high
		}
		return low
	}
}

// poisson makes of a load what is asked for in each tick, in thousandths of a core: requests come by chance, and each costs as
// much cpu.
func poisson(l load, ticks int, cost time.Duration, r *rand.Rand) []float64 {
	each := cost.Seconds() / tick.Seconds()
	demand := make([]float64, ticks)
	for i := range demand {
		demand[i] = 1000 * each * arrivals(l(time.Duration(i)*tick)/each, r)
	}
	return demand
}

func arrivals(mean float64, r *rand.Rand) float64 {
	if mean > 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	limit, n, p := math.Exp(-mean), 0.0, 1.0
	for {
		if p *= r.Float64(); p <= limit {
			return n
		}
		n++
	}
}

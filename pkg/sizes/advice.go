// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math"
	"time"
)

// Advice is what a container should request. Where nothing is known its amounts are None.
type Advice struct {
	// Target is what it needs, with a margin.
	Target Amounts
	// Lower and Upper are bounds: a request outside them is worth a change at once. The less is known, the wider they are.
	Lower, Upper Amounts
}

// noAdvice is what is said when nothing is known.
func noAdvice() Advice { return Advice{none(), none(), none()} }

// Options are how advice is made.
type Options struct {
	// Percentile is of the samples of each resource: so many of a hundred are below the target, before the margin.
	// From 50 to 99.
	Percentile [2]int
	// Margin is how many percent are added.
	Margin int
	// PodMinimum is divided among the containers of a Pod: no advice is less.
	PodMinimum Amounts
	// Containers is how many there are in a Pod.
	Containers int
}

// Percentiles of the bounds, where that of the target does not lie outside them.
const (
	lowerPercentile = 50
	upperPercentile = 95
)

// Advise returns advice for containers that use what these did.
func (u *Use) Advise(o Options) Advice {
	return advise(o, u.Samples, confidence(u.Last.Sub(u.First), u.Samples), u.percentile)
}

// advise makes advice of how much is known, and of what so many of a hundred samples are below.
func advise(o Options, samples int, known float64, below func(r Resource, percentile int) float64) Advice {
	if samples == 0 {
		return noAdvice()
	}
	var a Advice
	for r := range a.Target {
		floor := amount(float64(o.PodMinimum[r]) * (1 / float64(max(1, o.Containers))))
		need := func(percentile int) float64 {
			base := amount(below(Resource(r), percentile))
			return float64(base + amount(float64(base)*(float64(o.Margin)/100)))
		}
		a.Target[r] = max(floor, amount(need(o.Percentile[r])))
		a.Lower[r] = max(floor, amount(need(min(lowerPercentile, o.Percentile[r]))*math.Pow(1+0.001/known, -2)))
		a.Upper[r] = max(floor, amount(need(max(upperPercentile, o.Percentile[r]))*(1+1/known)))
	}
	return a
}

// percentile is what so many of a hundred samples are below.
func (u *Use) percentile(r Resource, percentile int) float64 {
	h := &u.cpu
	if r == Memory {
		h = &u.memory
	}
	bucket, found := h.percentile(float64(percentile) / 100)
	if !found {
		return 0
	}
	return valueAt(r, bucket)
}

// valueAt is the amount up to which a bucket of a resource reaches.
func valueAt(r Resource, bucket int) float64 {
	if r == Memory {
		return memoryScheme.end(bucket)
	}
	return cpuScheme.end(bucket) * 1000
}

// confidence is for how many days there were samples, one in a minute. Little of it widens the bounds:
//
//	samples of      lower bound   upper bound
//	no time         0             unlimited
//	5 minutes       0.60          289 times
//	12 hours        0.996         3 times
//	a day           0.998         2 times
//	a week          1             1.14 times
func confidence(span time.Duration, samples int) float64 {
	const day = 24 * time.Hour
	return min(float64(span)/float64(day), float64(samples)/day.Minutes())
}

// heldIf is the advice, held at the last one while a cluster is silent.
func (a Advice) heldIf(silent bool, last Advice) Advice {
	if silent {
		return a.hold(last)
	}
	return a
}

// hold returns advice that asks for nothing less than the last did. The zero value is no advice.
func (a Advice) hold(last Advice) Advice {
	if last == (Advice{}) {
		return a
	}
	for r := range a.Target {
		a.Target[r] = max(a.Target[r], last.Target[r])
		a.Lower[r] = max(a.Lower[r], last.Lower[r])
		a.Upper[r] = max(a.Upper[r], last.Upper[r])
	}
	return a
}

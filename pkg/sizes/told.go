// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// The percentiles that advice may be asked for.
const (
	LeastPercentile = 50
	MostPercentile  = 99
)

// Told is what advice is made of: all that can be asked of a [Use], by whatever percentile and margin. It is a hundred numbers, however
// much was used, and from one sample to the next few of them change.
type Told struct {
	// Reached are, for each resource and each percentile from the least, 1 more than the bucket in which it is reached; 0: in none, since
	// nothing was seen.
	Reached [resources][MostPercentile - LeastPercentile + 1]uint8
	// Span is from the first sample of CPU to the last, and Samples how many there are.
	Span    time.Duration
	Samples int
}

// Tell returns what can be asked of it.
func (u *Use) Tell() Told {
	t := Told{Span: u.Last.Sub(u.First), Samples: u.Samples}
	u.cpu.reached(&t.Reached[CPU])
	u.memory.reached(&t.Reached[Memory])
	return t
}

// reached has the buckets of all percentiles, as [histogram.percentile] finds each.
func (h *histogram) reached(all *[MostPercentile - LeastPercentile + 1]uint8) {
	from, to := h.hull(1)
	if from == to {
		return
	}
	i, sum := from, h.weights[from]
	for n := range all {
		for part := float64(LeastPercentile+n) / 100; i < to-1 && !(sum >= part*h.total); {
			i++
			sum += h.weights[i]
		}
		all[n] = h.low + uint8(i) + 1
	}
}

// Sound reports whether it can be of a use.
func (t *Told) Sound() bool {
	for r := range t.Reached {
		for _, n := range t.Reached[r] {
			if n > buckets {
				return false
			}
		}
	}
	return t.Samples >= 0
}

// Advise returns the advice of the use: the same, to the last digit. No percentile may be asked for that is not there.
func (t *Told) Advise(o Options) Advice {
	return advise(o, t.Samples, confidence(t.Span, t.Samples), t.percentile)
}

// Usage is what so many of a hundred samples of each resource are below, before the margin; None where nothing is known.
func (t *Told) Usage(o Options) Amounts {
	a := none()
	for r := range a {
		if t.Reached[r][o.Percentile[r]-LeastPercentile] > 0 {
			a[r] = amount(t.percentile(Resource(r), o.Percentile[r]))
		}
	}
	return a
}

func (t *Told) percentile(r Resource, percentile int) float64 {
	n := t.Reached[r][percentile-LeastPercentile]
	if n == 0 {
		return 0
	}
	return valueAt(r, int(n)-1)
}

// AdviseFleet is [AdviseFleet], of what the clusters used together; silent: one of them is.
func (t *Told) AdviseFleet(o Options, silent bool, last Advice) Advice {
	return t.Advise(o).heldIf(silent, last)
}

// AdviseCluster is [AdviseCluster].
func (t *Told) AdviseCluster(o Options, silent bool, fleet, last Advice) Advice {
	a := fleet
	if t.Samples > 0 {
		a = t.Advise(o)
	}
	return a.heldIf(silent, last)
}

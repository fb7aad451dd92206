// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math"
	"time"
)

const (
	tiny     = 0.0001 // a bucket of less weight counts as empty
	dust     = 1e-22  // so little weight changes no sum that it might be added to
	farthest = 100    // half lives from the day of a histogram to its samples, so that weights stay finite
)

// halfLife is how long it takes for a weight to halve. It is a day: histograms count time by days.
const halfLife = 24 * time.Hour

// A histogram holds the weight of what was seen in each bucket. The older a sample, the less it weighs: since only the
// proportions of weights matter, new samples are given more instead. The zero value is empty.
type histogram struct {
	weights []float64 // of buckets, from low on
	total   float64
	day     int32 // since 1970: a sample taken when it begins weighs what it is given, and one taken a half life later twice that
	low     uint8
}

// add adds a sample that was taken at this time.
func (h *histogram) add(bucket int, weight float64, at time.Time) {
	weight *= h.factor(at)
	h.cover(bucket, bucket+1)
	h.weights[bucket-int(h.low)] += weight
	h.total += weight
}

// subtract takes out a sample that was added before.
func (h *histogram) subtract(bucket int, weight float64, at time.Time) {
	weight *= h.factor(at)
	h.cover(bucket, bucket+1)
	of := &h.weights[bucket-int(h.low)]
	*of, h.total = less(*of, weight), less(h.total, weight)
	h.shrink()
}

func less(weight, by float64) float64 {
	if weight -= by; weight < tiny {
		return 0
	}
	return weight
}

// merge adds all that another histogram holds, and leaves that as it is.
func (h *histogram) merge(o *histogram) {
	h.shift(max(h.day, o.day))
	by := decay(o.day - h.day)
	from, to := o.hull(by)
	if from < to {
		h.cover(int(o.low)+from, int(o.low)+to)
	}
	for i := from; i < to; i++ {
		h.weights[int(o.low)+i-int(h.low)] += o.weights[i] * by
	}
	h.total += o.total * by
}

// percentile is the bucket in which this part of the weight is reached, from below. Nothing is found in an empty histogram.
func (h *histogram) percentile(part float64) (bucket int, found bool) {
	from, to := h.hull(1)
	if from == to {
		return 0, false
	}
	i, sum := from, 0.0
	for ; i < to-1; i++ {
		if sum += h.weights[i]; sum >= part*h.total {
			break
		}
	}
	return int(h.low) + i, true
}

// hull is where weights are not empty once they are multiplied: from the first of those to after the last.
func (h *histogram) hull(by float64) (from, to int) { return h.above(tiny, by) }

func (h *histogram) above(limit, by float64) (from, to int) {
	to = len(h.weights)
	for to > 0 && h.weights[to-1]*by < limit {
		to--
	}
	for from < to && h.weights[from]*by < limit {
		from++
	}
	return from, to
}

// factor is what a weight is multiplied by for its time.
func (h *histogram) factor(at time.Time) float64 {
	if at.Sub(midnight(h.day)) > farthest*halfLife {
		h.shift(dayOf(at))
	}
	return math.Exp2(float64(at.Sub(midnight(h.day))) / float64(halfLife))
}

// shift makes a later day that of the histogram.
func (h *histogram) shift(day int32) {
	if day == h.day {
		return
	}
	by := decay(h.day - day)
	from, to := h.hull(1) // what lies outside is too little to matter, and stays: so does VPA
	for i := from; i < to; i++ {
		h.weights[i] *= by
	}
	h.total *= by
	h.day = day
	h.shrink()
}

// cover makes room for these buckets, and for no more: new ones are rare, and histograms are many.
func (h *histogram) cover(from, to int) {
	if len(h.weights) == 0 {
		h.low = uint8(from)
	}
	low, high := int(h.low), int(h.low)+len(h.weights)
	if low <= from && to <= high {
		return
	}
	from, to = min(low, from), max(high, to)
	weights := make([]float64, to-from)
	copy(weights[low-from:], h.weights)
	h.weights, h.low = weights, uint8(from)
}

// shrink forgets the outermost buckets that hold nothing.
func (h *histogram) shrink() {
	from, to := h.above(dust, 1)
	h.weights, h.low = h.weights[from:to], h.low+uint8(from)
}

// decay is by what weights are multiplied when so many days have passed; days are negative.
func decay(days int32) float64 { return math.Ldexp(1, int(days)) }

// dayOf is the day, since 1970, that begins next to the time.
func dayOf(at time.Time) int32 {
	return int32(math.Floor(float64(at.Unix())/halfLife.Seconds() + 0.5))
}

// midnight is when a day begins, in UTC.
func midnight(day int32) time.Time { return time.Unix(int64(day)*int64(halfLife/time.Second), 0) }

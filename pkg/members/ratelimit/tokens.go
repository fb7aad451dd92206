// SPDX-License-Identifier: Apache-2.0

package ratelimit

import "time"

// tokens are in buckets: one of each class, which is filled at an equal part of the
// rate, and a common one, which gets what runs over. So a class gets its part whatever the
// others do, and all of the rate while they do nothing.
type tokens struct {
	most        float64 // tokens of a class
	mostInSpare float64
	filled      time.Time
	own         [classes]float64
	spare       float64
}

// reservedBurst is the part of the burst that is reserved for each class.
const reservedBurst = 1. / 16

// newTokens are full. In a moment there may be burst requests of all classes together, or one of each and two
// more if that is more.
func newTokens(burst int, now time.Time) tokens {
	t := tokens{most: max(1, float64(burst)*reservedBurst), filled: now}
	t.spare = max(0, float64(burst)-classes*t.most)
	t.mostInSpare = max(2, t.spare) // one, and the beginning of the next
	for c := range t.own {
		t.own[c] = t.most
	}
	return t
}

// fill adds what has come since it was last called, at a rate of all classes, per second.
func (t *tokens) fill(now time.Time, rate float64) {
	more := now.Sub(t.filled).Seconds() * rate / classes
	t.filled = now
	for c := range t.own {
		t.own[c] += more
		t.spare += max(0, t.own[c]-t.most)
		t.own[c] = min(t.own[c], t.most)
	}
	t.spare = min(t.spare, t.mostInSpare)
}

// take takes a token of the class, or else a spare one. It is false when there is none.
func (t *tokens) take(of Class) bool {
	for _, bucket := range []*float64{&t.own[of], &t.spare} {
		if *bucket >= 1 {
			*bucket--
			return true
		}
	}
	return false
}

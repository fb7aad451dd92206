// SPDX-License-Identifier: Apache-2.0

package connection

import "time"

// shares are token buckets: one of each class, which is filled at an equal part of the
// rate, and a common one, which gets what runs over. So a class gets its part whatever the
// others do, and all of the rate while they do nothing.
type shares struct {
	rate        float64 // of all, per second
	most        float64 // tokens of a class
	mostInSpare float64
	filled      time.Time
	own         [classes]float64
	spare       float64
}

// reservedBurst is the part of the burst that is reserved for each class.
const reservedBurst = 1. / 16

// newShares are full. In a moment there may be burst requests of all classes together, or one of each and two
// more if that is more.
func newShares(rate float64, burst int, now time.Time) shares {
	s := shares{rate: rate, most: max(1, float64(burst)*reservedBurst), filled: now}
	s.spare = max(0, float64(burst)-classes*s.most)
	s.mostInSpare = max(2, s.spare) // one, and the beginning of the next
	for c := range s.own {
		s.own[c] = s.most
	}
	return s
}

// fill adds what has come since it was last called.
func (s *shares) fill(now time.Time) {
	more := now.Sub(s.filled).Seconds() * s.rate / classes
	s.filled = now
	for c := range s.own {
		s.own[c] += more
		s.spare += max(0, s.own[c]-s.most)
		s.own[c] = min(s.own[c], s.most)
	}
	s.spare = min(s.spare, s.mostInSpare)
}

// take takes a token of the class, or else a spare one. It is false when there is none.
func (s *shares) take(of class) bool {
	for _, bucket := range []*float64{&s.own[of], &s.spare} {
		if *bucket >= 1 {
			*bucket--
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package sizes

import "math/bits"

// proportion is that of a limit to its request, at least 1. The zero value is none: the limit does not follow the request.
type proportion struct{ limit, request int64 }

func proportionOf(limit, request int64) proportion {
	switch {
	case limit <= 0:
		return proportion{}
	case request <= 0 || request > limit:
		return proportion{1, 1} // an API server requests what the limit is, where nothing else is said
	}
	return proportion{limit, request}
}

func (p proportion) follows() bool { return p.limit > 0 }

// of is the limit of a request, rounded down, so that the proportion is never exceeded.
func (p proportion) of(request int64) int64 { return mulDiv(request, p.limit, p.request) }

// most is the largest request whose limit is not above this one, and least the smallest whose limit is not below.
func (p proportion) most(limit int64) int64 {
	if limit < 0 {
		return None
	}
	return mulDiv(limit, p.request, p.limit)
}

func (p proportion) least(limit int64) int64 {
	if limit < 0 {
		return None
	}
	return mulDivUp(limit, p.request, p.limit)
}

// mulDiv is a*b/c of numbers that are not negative, rounded down, and at most most.
func mulDiv(a, b, c int64) int64 {
	quotient, _ := divide(a, b, c)
	return quotient
}

// mulDivUp is a*b/c, rounded up.
func mulDivUp(a, b, c int64) int64 {
	quotient, rest := divide(a, b, c)
	if rest {
		quotient++
	}
	return min(quotient, most)
}

func divide(a, b, c int64) (quotient int64, rest bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high >= uint64(c) {
		return most, false
	}
	q, r := bits.Div64(high, low, uint64(c))
	return int64(min(q, uint64(most))), r > 0
}

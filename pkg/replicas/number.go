// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"math"
	"math/big"
	"math/bits"
)

// A sum is of 128 bits, in two's complement: more int64 than anybody has fit in.
type sum struct{ high, low uint64 }

func (s *sum) add(v int64) { s.addSum(widen(v)) }

func (s *sum) addSum(other sum) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, other.low, 0)
	s.high, _ = bits.Add64(s.high, other.high, carry)
}

func (s *sum) subtract(other sum) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, other.low, 0)
	s.high, _ = bits.Sub64(s.high, other.high, borrow)
}

func widen(v int64) sum { return sum{high: uint64(v >> 63), low: uint64(v)} }

// toInt64 is s within int64.
func (s sum) toInt64() int64 {
	if s.high == uint64(int64(s.low)>>63) {
		return int64(s.low)
	}
	return toInt64(s.big())
}

func (s sum) isZero() bool { return s == sum{} }

func (s sum) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(int64(s.high)), 64)
	return n.Add(n, new(big.Int).SetUint64(s.low))
}

// times100Over is 100 s / divisor without its fraction, within int32. The divisor is not zero.
func (s sum) times100Over(divisor sum) int32 {
	n := s.big()
	n.Mul(n, big.NewInt(100)).Quo(n, divisor.big())
	return int32(clamp(toInt64(n), math.MinInt32, math.MaxInt32))
}

// over is s / n without its fraction, within int64. n is not zero.
func (s sum) over(n int) int64 {
	return toInt64(new(big.Int).Quo(s.big(), big.NewInt(int64(n))))
}

func toInt64(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// percentOf is v percent/100 without its fraction, within int64.
func percentOf(v int64, percent int32) int64 {
	if percent == 100 {
		return v
	}
	n := new(big.Int).Mul(big.NewInt(v), big.NewInt(int64(percent)))
	return toInt64(n.Quo(n, big.NewInt(100)))
}

func saturatingAdd(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// ceil32 is the least whole number that is not below f, within int32. NaN is 0.
func ceil32(f float64) int32 { return trunc32(math.Ceil(f)) }

// trunc32 is f without its fraction, within int32. NaN is 0.
func trunc32(f float64) int32 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= math.MinInt32:
		return math.MinInt32
	}
	return int32(f)
}

// ceil64 is the least whole number that is not below f, within int64. NaN is 0.
func ceil64(f float64) int64 {
	switch f = math.Ceil(f); {
	case f != f:
		return 0
	case f >= math.MaxInt64: // 2^63: the float above all int64
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

func clamp(v, low, high int64) int64 { return max(low, min(v, high)) }

// within32 is v within int32.
func within32(v int64) int32 { return int32(clamp(v, math.MinInt32, math.MaxInt32)) }

// addTimes adds v n times; n is not negative.
func (s *sum) addTimes(v int64, n int) {
	high, low := bits.Mul64(uint64(v), uint64(n))
	if v < 0 {
		high -= uint64(n) // uint64(v) is v + 2^64
	}
	s.addSum(sum{high, low})
}

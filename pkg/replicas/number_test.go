// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestRounding(t *testing.T) {
	tests := map[string]struct {
		in   float64
		up   int32
		cut  int32
		wide int64
	}{
		"a whole number":   {3, 3, 3, 3},
		"a fraction":       {2.1, 3, 2, 3},
		"below zero":       {-2.9, -2, -2, -2},
		"the highest":      {math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32},
		"beyond 32 bits":   {math.MaxInt32 + 1, math.MaxInt32, math.MaxInt32, math.MaxInt32 + 1},
		"far below":        {-1e10, math.MinInt32, math.MinInt32, -1e10},
		"beyond 64 bits":   {1e19, math.MaxInt32, math.MaxInt32, math.MaxInt64},
		"far below them":   {-1e19, math.MinInt32, math.MinInt32, math.MinInt64},
		"without end":      {math.Inf(1), math.MaxInt32, math.MaxInt32, math.MaxInt64},
		"no number at all": {math.NaN(), 0, 0, 0},
	}
	for name, tc := range tests {
		if up, cut, wide := ceil32(tc.in), trunc32(tc.in), ceil64(tc.in); up != tc.up || cut != tc.cut || wide != tc.wide {
			t.Errorf("%s: %v is %d, %d and %d; want %d, %d and %d", name, tc.in, up, cut, wide, tc.up, tc.cut, tc.wide)
		}
	}
}

// Sums are held to numbers without bounds.
func FuzzSum(f *testing.F) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		f.Add(r.Int64()>>r.IntN(64), -(r.Int64() >> r.IntN(64)), int64(r.Uint64()), r.IntN(1000))
	}
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64), 1)
	f.Add(int64(math.MinInt64), int64(math.MinInt64), int64(-1), 3)
	f.Fuzz(func(t *testing.T, a, b, c int64, n int) {
		if n < 1 || n > 1<<30 {
			return
		}
		got, want := sum{}, new(big.Int)
		for _, v := range []int64{a, b, c} {
			got.add(v)
			want.Add(want, big.NewInt(v))
		}
		got.addTimes(a, n)
		want.Add(want, new(big.Int).Mul(big.NewInt(a), big.NewInt(int64(n))))
		got.subtract(widen(b))
		want.Sub(want, big.NewInt(b))
		if got.big().Cmp(want) != 0 || got.isZero() != (want.Sign() == 0) {
			t.Fatalf("%d + %d + %d + %d × %d - %d is %v, want %v", a, b, c, n, a, b, got.big(), want)
		}
		if mean := saturated(new(big.Int).Quo(want, big.NewInt(int64(n)))); got.over(n) != mean {
			t.Errorf("%v over %d is %d, want %d", want, n, got.over(n), mean)
		}
		if c != 0 {
			percent := saturated(new(big.Int).Quo(new(big.Int).Mul(want, big.NewInt(100)), big.NewInt(c)))
			if got.times100Over(widen(c)) != within32(percent) {
				t.Errorf("%v of %d is %d %%, want %d", want, c, got.times100Over(widen(c)), within32(percent))
			}
		}
		if added := saturated(new(big.Int).Add(big.NewInt(a), big.NewInt(b))); saturatingAdd(a, b) != added {
			t.Errorf("%d + %d is %d, want %d", a, b, saturatingAdd(a, b), added)
		}
		part := new(big.Int).Mul(big.NewInt(a), big.NewInt(int64(n)))
		if want := saturated(part.Quo(part, big.NewInt(100))); percentOf(a, int32(n)) != want {
			t.Errorf("%d %% of %d is %d, want %d", n, a, percentOf(a, int32(n)), want)
		}
	})
}

func saturated(n *big.Int) int64 {
	if n.IsInt64() {
		return n.Int64()
	}
	if n.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

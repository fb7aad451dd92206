// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math"
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The bounds of what is served, in milli: the numbers that whoever parses the
// answer and takes its MilliValue, as autoscalers do, gets without a wrap. On
// the negative side those are the numbers of up to 18 digits: a longer one is
// parsed into a form whose MilliValue wraps when it is negative.
const (
	most  = math.MaxInt64
	least = -(1e18 - 1)
)

const nanosPerMilli = 1_000_000

// passed is q as it may be passed on: as it is, where its reader's MilliValue
// is right. Otherwise it is said in milli, within bounds.
func passed(q resource.Quantity) resource.Quantity {
	if q.IsZero() {
		return *resource.NewQuantity(0, q.Format) // 0e9999999 is a zero too, but takes long to read
	}
	if v, ok := q.AsInt64(); ok && 0 < v && v < most/1000 {
		return q
	}
	exact := q
	if dec := exact.AsDec(); magnitude(dec.UnscaledBig(), int64(dec.Scale())) < 9 {
		return q
	}
	// Negative numbers of more than 18 digits are misread; here they may have as many.
	if n := nanos(q); n.Cmp(big.NewInt(-1e18)) <= 0 || n.Cmp(bound(1)) == 0 {
		return inMilli(n, 1)
	}
	return q
}

// magnitude is an m for which 10^(m-1) <= |unscaled × 10^-scale| < 10^(m+1),
// found without writing the number out: a member can say 1e999999999. It means
// nothing for zero.
func magnitude(unscaled *big.Int, scale int64) int64 {
	return int64(unscaled.BitLen())*30103/100000 - scale
}

// nanos is q in billionths, within bounds. It is exact for all that comes over
// the wire; what is finer is rounded away from zero, as there.
func nanos(q resource.Quantity) *big.Int {
	dec := q.AsDec() // q is a copy, and what it shares with the original is only read
	unscaled, scale := dec.UnscaledBig(), int64(dec.Scale())
	switch sign, m := unscaled.Sign(), magnitude(unscaled, scale); {
	case sign == 0:
		return new(big.Int)
	case m > 17: // beyond either bound
		return bound(sign)
	case m < -10: // less than a nano
		return big.NewInt(int64(sign))
	case scale > 9:
		return within(quotient(unscaled, power(scale-9)))
	default:
		return within(new(big.Int).Mul(unscaled, power(9-scale)))
	}
}

// inMilli is total/parts, where total is in nanos: exact, rounded away from zero
// to the milli, within bounds. Equal numbers are equal bytes.
func inMilli(total *big.Int, parts int) resource.Quantity {
	total = quotient(total, big.NewInt(nanosPerMilli*int64(parts)))
	switch {
	case total.Cmp(big.NewInt(most)) > 0:
		return *resource.NewMilliQuantity(most, resource.DecimalSI)
	case total.Cmp(big.NewInt(least)) < 0:
		return *resource.NewMilliQuantity(least, resource.DecimalSI)
	default:
		return *resource.NewMilliQuantity(total.Int64(), resource.DecimalSI)
	}
}

// within is n, or the bound that it is beyond. Both are in nanos.
func within(n *big.Int) *big.Int {
	if limit := bound(n.Sign()); n.CmpAbs(limit) > 0 {
		return limit
	}
	return n
}

// bound is the bound on that side of zero, in nanos.
func bound(sign int) *big.Int {
	milli := big.NewInt(most)
	if sign < 0 {
		milli.SetInt64(least)
	}
	return milli.Mul(milli, big.NewInt(nanosPerMilli))
}

// quotient is a/b rounded away from zero; b is positive.
func quotient(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	return q.Add(q, big.NewInt(int64(r.Sign())))
}

func power(exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil)
}

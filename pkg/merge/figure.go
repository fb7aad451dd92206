// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math"
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A figure is a value at a time, over a window.
type figure struct {
	value  resource.Quantity
	at     metav1.Time
	window *int64 // seconds; nil where none is given
}

// combine makes one figure of at least one: as old as its oldest part, over the
// window of its widest.
func combine(word Word, parts []figure) figure {
	whole := figure{value: value(word, parts), at: parts[0].at}
	for _, p := range parts {
		if p.at.Before(&whole.at) {
			whole.at = p.at
		}
		if p.window != nil && (whole.window == nil || *p.window > *whole.window) {
			whole.window = p.window
		}
	}
	return whole
}

// value is exact until it is rounded up, once, to a milli: that is how
// autoscalers read it.
func value(word Word, parts []figure) resource.Quantity {
	if len(parts) == 1 {
		return readable(parts[0].value)
	}
	whole, count := nanos(parts[0].value), int64(1)
	for _, p := range parts[1:] {
		n := nanos(p.value)
		switch word {
		case Max:
			if n.Cmp(whole) > 0 {
				whole = n
			}
		case Min:
			if n.Cmp(whole) < 0 {
				whole = n
			}
		default:
			whole.Add(whole, n)
		}
		if word == Avg {
			count++
		}
	}
	return milliQuantity(ceilDiv(whole, count*nanosPerMilli))
}

const nanosPerMilli = 1_000_000

// nanos is exact: no quantity that was read from an API is finer.
func nanos(q resource.Quantity) *big.Int {
	dec := q.DeepCopy()
	d := dec.AsDec()
	n := new(big.Int).Set(d.UnscaledBig())
	if shift := 9 - int64(d.Scale()); shift >= 0 {
		return n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), nil))
	}
	return ceilQuo(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale())-9), nil))
}

func ceilDiv(n *big.Int, by int64) *big.Int { return ceilQuo(n, big.NewInt(by)) }

// ceilQuo is n / by, rounded up. By is above 0.
func ceilQuo(n, by *big.Int) *big.Int {
	quotient, remainder := new(big.Int).DivMod(n, by, new(big.Int)) // rounds down
	if remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

// milliQuantity stops at the largest that can be read in milli.
func milliQuantity(milli *big.Int) resource.Quantity {
	n := int64(math.MaxInt64)
	switch {
	case milli.IsInt64():
		n = milli.Int64()
	case milli.Sign() < 0:
		n = math.MinInt64 + 1 // its negative can be read too
	}
	return *resource.NewMilliQuantity(n, resource.DecimalSI)
}

// readable is a value that is passed on: as it is, unless reading it in milli would wrap.
func readable(q resource.Quantity) resource.Quantity {
	largest, smallest := milliQuantity(new(big.Int).Lsh(big.NewInt(1), 64)), milliQuantity(new(big.Int).Lsh(big.NewInt(-1), 64))
	switch {
	case q.Cmp(largest) > 0:
		return largest
	case q.Cmp(smallest) < 0:
		return smallest
	default:
		return q
	}
}

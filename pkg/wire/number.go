// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"math/bits"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Number is a quantity: so many units of 10^Scale, and how it is written.
type Number struct {
	Value  int64
	Scale  resource.Scale
	Format resource.Format
}

// Quantity is the number as others take it.
func (n Number) Quantity() resource.Quantity {
	q := *resource.NewScaledQuantity(n.Value, n.Scale)
	q.Format = n.Format
	return q
}

// Suffixes of a thousand and of 1024, each of the one before.
var (
	thousands = [...]string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	kibis     = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

const ones = 3 // the place of those among the thousands

// AppendText appends what Quantity().String() is: the number in the largest unit of which it is a whole number. Those
// that clusters measure are written here; the library, which knows how any number is written, takes four times as long.
func (n Number) AppendText(b []byte) []byte {
	switch {
	case n.Value == 0:
		return append(b, '0')
	case n.Format == resource.DecimalSI && n.Scale <= 0 && n.Scale%3 == 0:
		value, unit := n.Value, ones+int(n.Scale)/3
		for ; value%1000 == 0 && unit < len(thousands)-1; unit++ {
			value /= 1000
		}
		return append(strconv.AppendInt(b, value, 10), thousands[unit]...)
	case n.Format == resource.BinarySI && n.Scale == 0 && (n.Value <= -1024 || n.Value >= 1024) && n.Value != math.MinInt64:
		unit := bits.TrailingZeros64(uint64(n.Value)) / 10
		return append(strconv.AppendInt(b, n.Value>>(10*unit), 10), kibis[unit]...)
	default:
		q := n.Quantity()
		return append(b, q.String()...)
	}
}

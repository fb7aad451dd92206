// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Number is a quantity as it is kept: so many units of 10^scale, and how it is
// to be written.
type Number struct {
	value  int64
	scale  resource.Scale
	format resource.Format
}

// Quantity is the number as others take it.
func (n Number) Quantity() resource.Quantity {
	q := *resource.NewScaledQuantity(n.value, n.scale)
	q.Format = n.format
	return q
}

// Suffixes of a thousand and of 1024, each of the one before.
var (
	thousands = [...]string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	kibis     = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

const ones = 3 // the place of those among the thousands

// AppendText appends what Quantity().String() is. The numbers that clusters
// measure are written here; the library, which knows how any number is
// written, takes four times as long.
func (n Number) AppendText(b []byte) []byte {
	switch {
	case n.value == 0:
		return append(b, '0')
	case n.format == resource.DecimalSI && n.scale <= 0 && n.scale%3 == 0:
		return appendScaled(b, n.value, 1000, thousands[ones+int(n.scale)/3:])
	case n.format == resource.BinarySI && n.scale == 0 && (n.value <= -1024 || n.value >= 1024) && n.value != math.MinInt64:
		return appendScaled(b, n.value, 1024, kibis[:])
	default:
		q := n.Quantity()
		return append(b, q.String()...)
	}
}

// appendScaled writes a number of the first suffix's units in the largest of
// which it is a whole number.
func appendScaled(b []byte, value, step int64, suffixes []string) []byte {
	i := 0
	for ; value%step == 0 && i < len(suffixes)-1; i++ {
		value /= step
	}
	return append(strconv.AppendInt(b, value, 10), suffixes[i]...)
}

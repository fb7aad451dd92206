// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestNumbersAreWrittenAsQuantitiesAre(t *testing.T) {
	values := []int64{0, 1, -1, 7, 10, 100, 999, 1000, -1000, 1001, 1023, 1024, -1024, -1023, 1025, 1500, 2048, 1 << 20, 1<<20 + 1, 1 << 60,
		10_000_000, 123_456_789,
		1_000_000_000_000_000_000, math.MaxInt64, math.MinInt64, math.MaxInt64 - 807, math.MinInt64 + 808}
	for _, format := range []resource.Format{resource.DecimalSI, resource.BinarySI, resource.DecimalExponent, ""} {
		for scale := resource.Nano; scale <= resource.Exa; scale++ {
			for _, value := range values {
				checkText(t, Number{value, scale, format})
			}
		}
	}
}

func checkText(t *testing.T, n Number) {
	t.Helper()
	q := n.Quantity()
	if got, want := string(n.AppendText([]byte("x"))), "x"+q.String(); got != want {
		t.Errorf("%+v is written %s, want %s", n, got, want)
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add(int64(123_000), uint8(3), uint8(0))
	f.Add(int64(1<<40), uint8(9), uint8(1))
	f.Fuzz(func(t *testing.T, value int64, scale, format uint8) {
		formats := [...]resource.Format{resource.DecimalSI, resource.BinarySI, resource.DecimalExponent}
		checkText(t, Number{value, resource.Scale(scale%28) + resource.Nano, formats[format%3]})
	})
}

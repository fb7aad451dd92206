// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// byDefinition is what appendDelta appends, one number after the other.
func byDefinition(before, now []int64) (delta []byte) {
	delta = binary.AppendUvarint(nil, uint64(len(now)))
	same := uint64(0)
	for i, n := range now {
		old := int64(0)
		if i < len(before) {
			old = before[i]
		}
		if n == old {
			same++
			continue
		}
		delta, same = binary.AppendVarint(binary.AppendUvarint(delta, same), n-old), 0
	}
	return binary.AppendUvarint(delta, same)
}

// Numbers that are long, that begin alike, that come and go: the delta is as it is defined, and makes them of those before.
func TestDelta(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		of := func() int64 {
			return []int64{0, int64(r.IntN(60)), 64 << r.IntN(50), r.Int64() - r.Int64(), math.MinInt64, 1000 + int64(r.IntN(3))<<7}[r.IntN(6)]
		}
		before := make([]int64, r.IntN(40))
		for i := range before {
			before[i] = of()
		}
		now := slices.Clone(before[:r.IntN(len(before)+1)])
		for range r.IntN(6) {
			if len(now) > 0 {
				now[r.IntN(len(now))] = of()
			}
		}
		for range max(0, r.IntN(30)-10) {
			now = append(now, of())
		}
		flat := appendNumbers(nil, before)
		got, want := appendDelta(nil, flat, appendNumbers(nil, now), len(now)), byDefinition(before, now)
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: from %v to %v: %v, want %v", seed, before, now, got, want)
		}
		if back, err := patch(nil, flat, got); err != nil || !slices.Equal(back, now) {
			t.Fatalf("seed %d: %v was read back, want %v: %v", seed, back, now, err)
		}
	}
}

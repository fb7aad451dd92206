// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"math"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

func TestKeptOf(t *testing.T) {
	for memory, want := range map[int64]int64{900 << 20: 300 << 20, math.MaxInt64: 1 << 30} {
		if got := keptOf(memory); got != want {
			t.Errorf("of %d bytes %d are for what is kept, want %d", memory, got, want)
		}
	}
}

func TestKept(t *testing.T) {
	o := Options{MaxKept: 100}.WithDefaults()
	reading := func(name string) *Reading { return NewPeer(name, o, nil, func(fleet.Reason) {}, nil).Reading() }
	east, west, north := reading("east"), reading("west"), reading("north")
	var givenUp []string
	keep := func(r *Reading, name string, bytes int64) *Kept {
		t.Helper()
		k := r.Keep(func() { givenUp = append(givenUp, name) })
		if err := k.Add(bytes); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return k
	}
	large, small := keep(east, "large", 35), keep(east, "small", 10)
	other := keep(west, "other", 40)
	wantReason(t, keep(north, "greedy", 0).Add(51), fleet.ReasonTooLarge, "a third of GOMEMLIMIT")
	keep(north, "poor", 20) // 105 in all; of east there are 45
	if len(givenUp) != 1 || givenUp[0] != "large" {
		t.Errorf("%v gave way, want large", givenUp)
	}
	if err := large.Add(1); err == nil {
		t.Error("what gave way takes more")
	}
	for _, k := range []*Kept{small, other} {
		if err := k.Add(-5); err != nil {
			t.Error(err)
		}
		k.GiveBack()
	}
	if o.kept.held != 20 {
		t.Errorf("%d bytes count, want the 20 of the poor", o.kept.held)
	}
	if err := NewReading().Keep(func() {}).Add(math.MaxInt64); err != nil {
		t.Errorf("of a cluster without bounds: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Replicas that divide the objects change no more Pods of a cluster together than one that has all.
func TestRatesAreDividedByShards(t *testing.T) {
	held := 64
	l := limiters{Rates: Rates{Resizes: 120, Evictions: 10}, part: func() (int, int) { return held, 64 }}
	left := func(want Rates, after time.Duration) {
		t.Helper()
		same(t, "left", want, l.of("east", noon.Add(after)).left(noon.Add(after)))
	}
	left(Rates{120, 10}, 0)
	held = 21
	left(Rates{39, 3}, 0)
	for range 3 {
		if !l.of("east", noon).take(sizes.WayEvict, noon) {
			t.Fatal("too few may be evicted")
		}
	}
	left(Rates{39, 0}, 0)
	held = 43
	left(Rates{39, 0}, 0) // what was taken is not given back
	left(Rates{80, 6}, time.Minute)
	held = 1
	left(Rates{1, 1}, time.Minute)
	l.Rates = Rates{}
	left(Rates{}, time.Minute)
}

// Those of clusters that are whole are forgotten, by the rates that they have now.
func TestRatesOfManyClustersAreForgotten(t *testing.T) {
	held := 64
	l := limiters{Rates: Rates{Resizes: 120, Evictions: 10}, part: func() (int, int) { return held, 64 }}
	name := func(n int) string { return "member-" + time.Duration(n).String() }
	held = 32
	for n := range mostIdle {
		l.of(name(n), noon)
	}
	if !l.of(name(7), noon).take(sizes.WayResize, noon) {
		t.Fatal("none may be resized")
	}
	l.of("east", noon)
	if len(l.byCluster) != 2 || l.byCluster[name(7)] == nil {
		t.Errorf("%d clusters are remembered, want that of which something was taken, and east", len(l.byCluster))
	}
}

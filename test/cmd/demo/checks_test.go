// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
)

const (
	mpaHeader = "NAME   TARGET            MODE   REPLICAS   SIZED   CPU   MEMORY   SAVINGS   STATE   AGE\n"
	mpaSaves  = mpaHeader + "shop   Deployment/shop   Off   6   0/6   1 -> 126m    1Gi -> 250Mi   5244m cpu, 4644Mi, 0.23/h     Active   17s\n"
	mpaCosts  = mpaHeader + "shop   Deployment/shop   Off   6   0/6   1 -> 1388m   1Gi -> 250Mi   -2328m cpu, 4644Mi, -0.07/h   Active   27s\n"
	mpaNoCost = mpaHeader + "shop   Deployment/shop   Off   6   0/6   1 -> 126m    1Gi -> 250Mi   5244m cpu, 4644Mi            Active   17s\n"
	mpaLearns = mpaHeader + "shop   Deployment/shop   Off   6                              Learning   0s\n"
)

// A check that accepts anything would let the demo promise anything.
func TestChecks(t *testing.T) {
	tests := []struct {
		name  string
		check check
		table string
		want  bool
	}{
		{"cpu within bounds", recommends("100m", "150m"), mpaSaves, true},
		{"cpu at the bounds", recommends("126m", "126m"), mpaSaves, true},
		{"cpu below", recommends("127m", "150m"), mpaSaves, false},
		{"cpu above", recommends("100m", "125m"), mpaSaves, false},
		{"no cpu", recommends("0", "100"), mpaLearns, false},
		{"saves", saves(true), mpaSaves, true},
		{"saves what costs", saves(true), mpaCosts, false},
		{"costs", saves(false), mpaCosts, true},
		{"costs what saves", saves(false), mpaSaves, false},
		{"no price", saves(true), mpaNoCost, false},
		{"no price, either way", saves(false), mpaNoCost, false},
		{"fields", autoscales("Off 6 0/6 1 -> 126m", "Active"), mpaSaves, true},
		{"part of a field", autoscales("1 -> 12"), mpaSaves, false},
		{"fields apart", autoscales("Off 0/6"), mpaSaves, false},
		{"two lines", autoscales("Active"), mpaSaves + "other\n", false},
		{"no line", autoscales(), mpaHeader, false},
		{"each of several", each(saves(true), autoscales("Active")), mpaSaves, true},
		{"the first of several", each(saves(false), autoscales("Active")), mpaSaves, false},
		{"the last of several", each(saves(true), autoscales("Held")), mpaSaves, false},
		{"rows", lists(1), mpaSaves, true},
		{"more rows", lists(2), mpaSaves, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.check(fixture.Said{Stdout: test.table}); (err == nil) != test.want {
				t.Errorf("it says %v, want it to be right: %v", err, test.want)
			}
		})
	}
}

// A mode that does not exist fails before anything is started.
func TestUnknownMode(t *testing.T) {
	if err := run(t.Context(), t.Output(), "else"); err == nil {
		t.Error("it is shown, want an error")
	}
	for _, mode := range []string{central, distributed, multidim, simulated} {
		if len((&stage{}).play(mode)) == 0 {
			t.Errorf("mode %s shows nothing", mode)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"maps"
	"testing"
	"time"
)

func TestExpiries(t *testing.T) {
	soon, later := time.Unix(1_000, 0), time.Unix(2_000, 0)
	r := &Renewer{}
	if _, known := r.Expiries(); known {
		t.Error("known before any registration was seen")
	}
	r.expiries.set("east", reads, later)
	r.expiries.set("east", writes, soon)
	r.expiries.set("west", reads, time.Time{}) // never
	r.expiries.set("north", reads, soon)
	r.expiries.set("south", reads, soon)
	r.expiries.unset("north", reads)
	r.expiries.unset("unheard of", reads)
	r.expiries.forget("south")
	r.expiries.pass()
	got, known := r.Expiries()
	if want := map[string]time.Time{"east": soon}; !known || !maps.Equal(want, got) {
		t.Errorf("%v, known: %v; want %v", got, known, want)
	}
}

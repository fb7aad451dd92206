// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math/rand/v2"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Terms come to the bounds of each cluster, shares to what rounding makes of them, and to ask for them changes nothing.
func TestTermsComeToBounds(t *testing.T) {
	seen := map[Source]int{}
	for seed := range fleettest.Rounds(3000, 10) {
		q := randomAssignment(rand.New(rand.NewPCG(seed, 11)), false)
		a, terms := assign(q, true)
		if diff := fleettest.Diff(Assign(q), a); diff != "" {
			t.Fatalf("seed %d: (-unasked +asked):\n%s", seed, diff)
		}
		for name, b := range a.Bounds {
			of := terms[name]
			if termsSum(of.Min) != int64(b.Min) || termsSum(of.Max) != int64(b.Max) {
				t.Fatalf("seed %d: %s gets %+v of %+v", seed, name, b, of)
			}
			for _, term := range append(of.Min, of.Max...) {
				seen[term.Source]++
				checkTerm(t, seed, term)
			}
		}
	}
	for _, want := range []Source{Whole, Running, Threshold, ByWeight, Equally, Hosted, ToFirst, AtLeastOne} {
		if seen[want] == 0 {
			t.Errorf("nothing came of %s", want)
		}
	}
}

// checkTerm computes a term from what it says it comes from.
func checkTerm(t *testing.T, seed uint64, term Term) {
	t.Helper()
	switch term.Source {
	case ByWeight, Equally:
		quota := term.Of * term.Weight / term.Weights
		if cut := term.Replicas == term.Room && quota >= term.Room; !cut && term.Replicas != quota && term.Replicas != quota+1 {
			t.Errorf("seed %d: %+v", seed, term)
		}
	case Threshold, Hosted, ToFirst:
		if term.Replicas != min(term.Of, term.Room) {
			t.Errorf("seed %d: %+v", seed, term)
		}
	}
}

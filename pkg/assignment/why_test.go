// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math/rand/v2"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/taints"
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

// Those whose bounds nobody else gets are told, with what they come to: a cluster that may be back at once, and one that refuses.
func TestWhoseBoundsAreNobodyElses(t *testing.T) {
	refusing := func(s *Site) { s.Presence = Refusing }
	drained := func(s *Site) { s.Standing = taints.Drained }
	e := Explain(snapshot(StaticWeighted, 6, 30, site("here", 1, 5, 2), site("away", 1, 5, 2, silent(60)), site("gone", 1, 5, 2, silent(301)),
		site("refuses", 2, 6, 2, refusing), site("drained", 1, 5, 2, silent(60), drained), site("leaves", 1, 5, 2, leaving)))
	fleettest.Same(t, "kept", map[string]bool{
		"here": false, "away": true, "gone": false, "refuses": true, "drained": false, "leaves": false,
	}, e.Keeps)
	fleettest.Same(t, "in all", [2]int64{3, 11}, [2]int64{e.KeptMin, e.KeptMax})
}

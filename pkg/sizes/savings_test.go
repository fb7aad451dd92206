// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math"
	"testing"
)

func TestSavings(t *testing.T) {
	small, large := wanting("a", 50, 500), wanting("b", 300, 1000)
	unsized, unasked := wanting("c", None, None), wanting("d", 30, 10)
	unasked.Containers[0].Requests = none()
	got := SavingsOf([]Running{small, large, unsized, unasked, wanting("e", 0, 0)}, Price{})
	if want := (Savings{Requested: Amounts{400, 4000}, Advised: Amounts{480, 2510}}); got != want {
		t.Errorf("savings %+v, want %+v", got, want)
	}
	if less := got.Less(); less != (Amounts{-80, 1490}) {
		t.Errorf("less by %v", less)
	}
	p := wanting("a", 1000, gi)
	p.Containers[0].Requests = Amounts{3000, 5 * gi}
	east := SavingsOf([]Running{p}, Price{Core: 0.25, GiB: 0.125})
	if east.Money != 1 {
		t.Errorf("an hour costs %g less, want 1: two cores and four GiB", east.Money)
	}
	if sum, want := east.Add(east), (Savings{Amounts{6000, 10 * gi}, Amounts{2000, 2 * gi}, 2}); sum != want {
		t.Errorf("twice that is %+v, want %+v", sum, want)
	}
}

func TestPriceOfACluster(t *testing.T) {
	tests := map[string]struct {
		core, gib *float64
		defaults  Price
		want      Price
		known     bool
	}{
		"nothing is said":                         {},
		"both are said":                           {core: new(0.5), gib: new(0.25), want: Price{0.5, 0.25}, known: true},
		"both are said, which goes before":        {core: new(0.5), gib: new(0.25), defaults: Price{3, 4}, want: Price{0.5, 0.25}, known: true},
		"defaults":                                {defaults: Price{3, 4}, want: Price{3, 4}, known: true},
		"a core is said, and a default for a GiB": {core: new(0.5), defaults: Price{3, 4}, want: Price{0.5, 4}, known: true},
		"a GiB is said, and a default for a core": {gib: new(0.25), defaults: Price{Core: 3}, want: Price{3, 0.25}, known: true},
		"0 is said, which is a price":             {core: new(0.0), gib: new(0.0), want: Price{}, known: true},
		"0 is said, which goes before":            {core: new(0.5), gib: new(0.0), defaults: Price{3, 4}, want: Price{0.5, 0}, known: true},
		"only a core is said":                     {core: new(0.5)},
		"only a GiB is said":                      {gib: new(0.25)},
		"only a core has a default":               {defaults: Price{Core: 3}},
		"only a GiB has a default":                {defaults: Price{GiB: 4}},
		"a core twice, and no GiB":                {core: new(0.5), defaults: Price{Core: 3}},
		"a GiB twice, and no core":                {gib: new(0.25), defaults: Price{GiB: 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, known := PriceOf(tc.core, tc.gib, tc.defaults); got != tc.want || known != tc.known {
				t.Errorf("PriceOf = %+v, %t, want %+v, %t", got, known, tc.want, tc.known)
			}
		})
	}
}

// Sums that no fleet has do not overflow.
func TestSavingsDoNotOverflow(t *testing.T) {
	huge := Savings{Requested: Amounts{math.MaxInt64, 1}, Advised: Amounts{1, math.MaxInt64}}
	all := huge.Add(huge).Add(huge)
	if want := (Amounts{mostTogether, 3}); all.Requested != want {
		t.Errorf("requested %v, want %v", all.Requested, want)
	}
	if want := (Amounts{3, mostTogether}); all.Advised != want {
		t.Errorf("advised %v, want %v", all.Advised, want)
	}
	pod := Running{Containers: []RunningContainer{
		{Resources: Resources{Requests: Amounts{math.MaxInt64, 5}}, Size: Size{Advice: noAdvice()}},
		{Resources: Resources{Requests: Amounts{math.MaxInt64, 6}}, Size: Size{Advice: noAdvice()}},
	}}
	if got := SavingsOf([]Running{pod}, Price{}); got.Requested != (Amounts{mostTogether, 11}) || got.Less() != (Amounts{}) {
		t.Errorf("%+v", got)
	}
}

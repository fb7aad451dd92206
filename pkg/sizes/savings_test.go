// SPDX-License-Identifier: Apache-2.0

package sizes

import "testing"

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

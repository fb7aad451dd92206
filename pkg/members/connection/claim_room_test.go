// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// holding is a loan of an account that holds so much of it.
func holding(t *testing.T, a *account, n int64) *openLoan {
	t.Helper()
	l := lend(a)
	wantTaken(t, l, n)
	return l
}

// decoder is what is being decoded of an account, and holds so much of it.
func decoder(t *testing.T, a *account, n int64) *loan {
	t.Helper()
	l := a.loan(nil)
	if err := l.take(n); err != nil {
		t.Fatal(err)
	}
	return l
}

func wants(l *openLoan, more int64) *claim {
	return &claim{loan: l.loan, more: more, served: make(chan struct{})}
}

// isServed tells whether the claim holds what it wants.
func (c *claim) isServed() bool {
	select {
	case <-c.served:
		return true
	default:
		return false
	}
}

// Nobody gives way to who has to wait all the same: that happens once there is room for all it claims.
func TestWhoWaitsTakesNothing(t *testing.T) {
	b := newBudget(400, 0) // 300 in all, 150 of each
	decoder(t, b.account(), 150)
	ends, crowd := decoder(t, b.account(), 50), b.account()
	large, small := holding(t, crowd, 50), holding(t, crowd, 40)
	asker := holding(t, b.account(), 5)
	asked := wants(asker, 75) // with what is decoded, and without the large one, 320 would be held; without both nobody holds more
	if b.enter(asked) || asked.isServed() {
		t.Error("it is served, for which there is no room")
	}
	if large.revoked || large.ended || large.held != 50 || crowd.held != 90 || b.held != 295 {
		t.Errorf("the large one was revoked: %v, ended: %v, and holds %d of %d of %d; want it left as it was", large.revoked, large.ended,
			large.held, crowd.held, b.held)
	}
	wantTaken(t, large, 1)
	ends.giveBack()
	if !asked.isServed() || !large.ended || small.ended || asker.held != 80 || b.held != 270 || b.fixed != 230 {
		t.Errorf("once there is room, served: %v, the large one ended: %v, the small one: %v, held %d of %d, of which %d are decoded",
			asked.isServed(), large.ended, small.ended, asker.held, b.held, b.fixed)
	}
}

// A member is served up to its part, of which what it decodes is as well, and no byte beyond.
func TestAClaimHasItsPartAtMost(t *testing.T) {
	for more, want := range map[int64]bool{50: true, 51: false} {
		b := newBudget(400, 0) // 150 of each
		east := b.account()
		ends := decoder(t, east, 60)
		l := holding(t, east, 40)
		asked := wants(l, more)
		if got := b.enter(asked); got != want || asked.isServed() != want || !l.fits(more) {
			t.Errorf("%d more beside 100: served: %v, want %v", more, got, want)
		}
		ends.giveBack()
		if !asked.isServed() || b.held != 40+more {
			t.Errorf("%d more, once nothing else is decoded: served: %v, %d held", more, asked.isServed(), b.held)
		}
	}
	l := holding(t, newBudget(400, 0).account(), 40)
	fleettest.Same(t, "what fits", []bool{true, false}, []bool{l.fits(110), l.fits(111)})
}

// Of the same member, its largest answer gives way.
func TestOwnAnswersGiveWayToAClaim(t *testing.T) {
	b := newBudget(400, 0) // 150 of each
	east, west := b.account(), b.account()
	small, large, others := holding(t, east, 30), holding(t, east, 70), holding(t, west, 140)
	asked := wants(holding(t, east, 10), 50)
	if !b.enter(asked) || !large.ended || small.ended || others.ended || east.held != 90 {
		t.Errorf("served: %v; ended: the large one %v, the small one %v, another member's %v; %d held", asked.isServed(), large.ended,
			small.ended, others.ended, east.held)
	}
}

// While nothing is being decoded there is nothing to wait for: then the largest answer gives way, also of who holds less.
func TestWithNothingToWaitForOthersGiveWay(t *testing.T) {
	b := newBudget(400, 0)
	north := b.account()
	large, one, two := holding(t, b.account(), 100), holding(t, north, 60), holding(t, north, 45)
	asked := wants(holding(t, b.account(), 90), 50) // 140, which is more than any other holds
	if !b.enter(asked) || !large.ended || one.ended || two.ended || b.held != 245 {
		t.Errorf("served: %v; ended: the large one %v, others %v, %v; %d held", asked.isServed(), large.ended, one.ended, two.ended, b.held)
	}
}

// Who would hold the least goes before others, for which there is room, only while it waits.
func TestWhoLeavesMakesRoom(t *testing.T) {
	b := newBudget(400, 0)
	decoder(t, b.account(), 120)
	decoder(t, b.account(), 80)
	first, second := wants(holding(t, b.account(), 10), 60), wants(holding(t, b.account(), 65), 10)
	if b.enter(first) || b.enter(second) {
		t.Errorf("served: %v, %v; want that both wait", first.isServed(), second.isServed())
	}
	if !b.leave(first) || first.isServed() || !second.isServed() || b.held != 285 || len(b.waiting) != 0 {
		t.Errorf("once the first has left, served: %v, %v; %d held, %d wait", first.isServed(), second.isServed(), b.held, len(b.waiting))
	}
	if b.leave(second) {
		t.Error("who was served has left without it")
	}
}

// What is read of a closed answer is refused, and held by nobody.
func TestClosedLoan(t *testing.T) {
	b := newBudget(400, 0)
	l := holding(t, b.account(), 10)
	l.close()
	wantReason(t, l.take(1), fleet.ReasonRateLimited, "")
	if b.held != 0 || l.ended {
		t.Errorf("%d held; ended %v, by nobody", b.held, l.ended)
	}
}

// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestBudgetOfMemory(t *testing.T) {
	tests := map[string]struct {
		memory, mostAnswer       int64
		most, each, mostOfAnswer int64
	}{
		"three quarters of the limit":      {1 << 30, 128 << 20, 768 << 20, 384 << 20, 192 << 20},
		"of little memory little":          {64 << 20, 128 << 20, 48 << 20, 24 << 20, 12 << 20},
		"without a limit, some of largest": {math.MaxInt64, 128 << 20, 1 << 30, 512 << 20, 256 << 20},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBudget(tc.memory, tc.mostAnswer)
			if b.most != tc.most || b.each != tc.each || b.answer() != tc.mostOfAnswer {
				t.Errorf("%d in all, %d of each, %d of an answer; want %+v", b.most, b.each, b.answer(), tc)
			}
		})
	}
}

// openLoan is one that notes whether it was revoked.
type openLoan struct {
	*loan
	ended bool
}

func lend(a *account) *openLoan {
	l := &openLoan{}
	l.loan = a.loan(func() { l.ended = true })
	return l
}

func TestWhoHoldsTheMostGivesWay(t *testing.T) {
	b := newBudget(400, 0) // 300 in all, 150 of each
	east, west, north := b.account(), b.account(), b.account()
	small, large, other := lend(east), lend(east), lend(west)
	for l, n := range map[*openLoan]int64{small: 20, large: 100, other: 110} {
		wantTaken(t, l, n)
	}
	third := lend(north)
	wantTaken(t, third, 70) // all there is
	wantTaken(t, third, 1)
	if !large.ended || small.ended || other.ended || third.ended {
		t.Errorf("ended: the large one of east %v, its small one %v, west %v, north %v; want the first", large.ended, small.ended, other.ended,
			third.ended)
	}
	wantReason(t, large.take(1), fleet.ReasonRateLimited, "this cluster's were the largest")
	if b.held != 201 || east.held != 20 {
		t.Errorf("%d held, of which %d by east; want 201 and 20", b.held, east.held)
	}
	wantTaken(t, other, 35) // 145 is more than all others have
	wantTaken(t, third, 64)
	wantReason(t, other.take(1), fleet.ReasonRateLimited, "")
	if other.ended || third.ended {
		t.Error("who asks for more is told so, and need not be ended; nobody else is")
	}
	small.giveBack()
	third.giveBack()
	if b.held != 0 || len(b.accounts) != 0 || len(east.loans) != 0 {
		t.Errorf("%d held by %d accounts after all was given back", b.held, len(b.accounts))
	}
}

func wantTaken(t *testing.T, l *openLoan, n int64) {
	t.Helper()
	if err := l.take(n); err != nil {
		t.Errorf("taking %d: %v", n, err)
	}
}

func TestOneMemberHasItsPartAtMost(t *testing.T) {
	b := newBudget(400, 0)
	east := b.account()
	first, second := lend(east), lend(east)
	wantTaken(t, first, 100)
	wantTaken(t, second, 50)
	wantTaken(t, second, 1)
	if !first.ended || east.held != 51 {
		t.Errorf("its largest answer ended %v, and it holds %d; want that, and 51", first.ended, east.held)
	}
}

// Nothing can end a decoder: others give way to it, or it does not begin.
func TestDecodersDoNotGiveWay(t *testing.T) {
	b := newBudget(400, 0)
	decoder, reader, asker := b.account().loan(nil), lend(b.account()), b.account().loan(nil)
	if err := decoder.take(150); err != nil {
		t.Fatal(err)
	}
	wantTaken(t, reader, 100)
	if err := asker.take(60); err != nil || !reader.ended || decoder.revoked {
		t.Errorf("%v; the reader ended %v, the decoder %v; want the reader only", err, reader.ended, decoder.revoked)
	}
	if err := b.account().loan(nil).take(91); err == nil || decoder.revoked || asker.revoked {
		t.Errorf("a decoder for which there is no room began: %v", err)
	}
}

// Whatever members do: the bounds hold, sums are right, and a member that holds no more
// than its part of all that is held is never refused.
func TestBudgetProperties(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBudget(4000, 0)
		accounts := make([]*account, 1+r.IntN(8))
		for i := range accounts {
			accounts[i] = b.account()
		}
		var loans []*openLoan
		for range 400 {
			if len(loans) == 0 || r.IntN(4) == 0 {
				loans = append(loans, lend(accounts[r.IntN(len(accounts))]))
			}
			l := loans[r.IntN(len(loans))]
			if r.IntN(8) == 0 {
				l.giveBack()
				continue
			}
			n, fair, was := r.Int64N(600), min(b.each, b.most/int64(len(accounts))), l.revoked
			part := l.account.held
			if err := l.take(n); err != nil && !was && part+n <= fair {
				t.Fatalf("seed %d: a member that held %d of %d was refused %d more, with %d members", seed, part, b.most, n, len(accounts))
			}
			check(t, seed, b, accounts, loans)
		}
	}
}

func check(t *testing.T, seed uint64, b *budget, accounts []*account, loans []*openLoan) {
	t.Helper()
	all := int64(0)
	for _, a := range accounts {
		sum := int64(0)
		for _, l := range loans {
			if l.account == a {
				sum += l.held
			}
			if l.revoked && l.held > 0 || l.ended && !l.revoked {
				t.Fatalf("seed %d: a loan is revoked %v, ended %v, and holds %d", seed, l.revoked, l.ended, l.held)
			}
		}
		if sum != a.held || a.held > b.each || a.held < 0 {
			t.Fatalf("seed %d: an account says that it holds %d, of %d; its loans have %d", seed, a.held, b.each, sum)
		}
		all += sum
	}
	if all != b.held || all > b.most {
		t.Fatalf("seed %d: %d held in all of %d; accounts have %d", seed, b.held, b.most, all)
	}
}

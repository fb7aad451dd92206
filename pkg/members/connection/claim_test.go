// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// weighs says that decoding takes so much.
func weighs(bytes int64) Check { return func([]byte) (int64, error) { return bytes, nil } }

// sharing are peers with one budget of that many bytes in all.
func sharing(memory int64, n int) []*Peer {
	o := Options{budget: newBudget(memory/3*4, 0)}.WithDefaults()
	peers := make([]*Peer, n)
	for i := range peers {
		peers[i] = NewPeer("east", o, NewMetrics(prometheus.NewRegistry()), func(fleet.Reason) {}, nil)
	}
	return peers
}

// What decoding takes is held while it lasts, and no longer, however it ends.
func TestWhatDecodingTakesIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := sharing(3000, 1)[0]
		b, r := east.options.budget, east.Reading()
		for name, read := range map[string]func([]byte) (int, error){
			"it is decoded": func([]byte) (int, error) { return 1, nil },
			"it is not":     func([]byte) (int, error) { return 0, errPanic },
			"a panic":       func([]byte) (int, error) { panic("over it") },
			"too late":      func([]byte) (int, error) { time.Sleep(time.Minute); return 0, nil },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, _ = Decode(ctx, r, make([]byte, 100), weighs(700), func(answer []byte) (int, error) {
				if b.held != 800 || b.fixed != 800 {
					t.Errorf("%s: %d are held, of which %d for good; want 800", name, b.held, b.fixed)
				}
				return read(answer)
			})
			cancel()
			time.Sleep(time.Hour)
			synctest.Wait()
			if b.held != 0 || b.fixed != 0 || len(b.waiting) != 0 || len(r.places) != 0 {
				t.Errorf("%s: after that %d are held, %d for good, %d wait", name, b.held, b.fixed, len(b.waiting))
			}
		}
	})
}

func TestAnswerThatUnfoldsIsNotDecoded(t *testing.T) {
	east := sharing(3000, 1)[0] // 1500 of it
	_, err := Decode(t.Context(), east.Reading(), make([]byte, 100), weighs(1401), func([]byte) (int, error) {
		t.Error("it is decoded")
		return 0, nil
	})
	wantReason(t, err, fleet.ReasonTooLarge, "decoding the answer would take")
	if n := testutil.ToFloat64(east.meter.metrics.offences.WithLabelValues("east", "TooLarge")); n != 1 || east.options.budget.held != 0 {
		t.Errorf("%v offences, %d held", n, east.options.budget.held)
	}
	heavy := []byte(`{"kind":"PodList","apiVersion":"v1","items":[` + strings.Repeat("{},", 200_000) + "{}]}")
	west := sharing(1<<30, 1)[0]
	_, _, err = timed{panicking{}, answers().guard, west.Reading(), time.Minute, false}.Decode(heavy, nil, nil)
	wantReason(t, err, fleet.ReasonBadAnswer, "64 times as much memory")
	if n := testutil.ToFloat64(west.meter.metrics.offences.WithLabelValues("east", "TooHeavy")); n != 1 {
		t.Errorf("%v offences", n)
	}
}

// Two members have others wait for their decoders. One that would hold less goes before another that waits for longer, and
// what is being read waits for nobody.
func TestWhoWouldHoldTheLeastIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peers := sharing(3000, 4)
		var mu sync.Mutex
		var order []string
		noted := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(order, ", ")
		}
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		decode := func(of *Peer, name string, bytes int64, takes time.Duration) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				_, err := Decode(ctx, of.Reading(), make([]byte, 10), weighs(bytes), func([]byte) (int, error) {
					note(name)
					time.Sleep(takes)
					return 0, nil
				})
				if err != nil {
					note(name + ": " + err.Error())
				}
			}()
			synctest.Wait()
		}
		decode(peers[0], "hostile", 1400, 10*time.Second)
		decode(peers[1], "hostile too", 1400, 11*time.Second)
		decode(peers[0], "hostile again", 1400, time.Second)
		decode(peers[2], "large", 1350, time.Second)
		decode(peers[3], "small", 300, 2*time.Second)
		if got := noted(); got != "hostile, hostile too" {
			t.Errorf("at first %s", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := noted(); got != "hostile, hostile too, small, large, hostile again" {
			t.Errorf("served in the order %s", got)
		}
		if b := peers[0].options.budget; b.held != 0 || b.fixed != 0 || len(b.waiting) != 0 {
			t.Errorf("%d held, %d for good, %d wait", b.held, b.fixed, len(b.waiting))
		}
	})
}

// Answers that are in memory and wait for each other do not do so forever.
func TestAnswersDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var decoded, refused atomic.Int32
		for _, p := range sharing(3000, 12) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				check := func([]byte) (int64, error) { time.Sleep(time.Second); return 250, nil }
				if _, err := Decode(ctx, p.Reading(), make([]byte, 250), check, func([]byte) (int, error) { return 0, nil }); err == nil {
					decoded.Add(1)
				} else {
					wantReason(t, err, fleet.ReasonRateLimited, "")
					refused.Add(1)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if d, r := decoded.Load(), refused.Load(); d < 10 || d+r != 12 {
			t.Errorf("%d were decoded and %d refused within 2 s", d, r)
		}
	})
}

// Whatever members do: no bound is broken, nothing that is decoded gives way, and once the decoders of those who hold more than
// a fair part have ended, whoever would hold no more than that waits no longer.
func TestClaimProperties(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := newBudget(4000, 0) // 3000 in all
		accounts := make([]*account, 2+r.IntN(6))
		for i := range accounts {
			accounts[i] = b.account()
		}
		fair := b.most / int64(len(accounts))
		var loans []*openLoan
		var claims []*claim
		for range 300 {
			switch l := lend(accounts[r.IntN(len(accounts))]); r.IntN(6) {
			case 0, 1:
				loans = append(loans, l)
				_ = l.take(r.Int64N(400))
			case 2, 3:
				if loans = append(loans, l); l.take(r.Int64N(200)) == nil {
					if c := (&claim{loan: l.loan, more: r.Int64N(900), served: make(chan struct{})}); l.fits(c.more) {
						b.enter(c)
						claims = append(claims, c)
					}
				}
			default:
				if len(loans) > 0 {
					gone := loans[r.IntN(len(loans))]
					for _, c := range claims {
						if c.loan == gone.loan {
							b.leave(c)
						}
					}
					gone.giveBack()
				}
			}
			check(t, seed, b, accounts, loans)
			checkFixed(t, seed, b, loans)
		}
		for _, l := range loans {
			if l.revoke == nil && l.account.held > fair {
				l.giveBack()
			}
		}
		for _, c := range b.waiting {
			if !c.loan.revoked && c.after() <= fair {
				t.Fatalf("seed %d: a member that would hold %d of its %d waits for others", seed, c.after(), fair)
			}
		}
	}
}

func checkFixed(t *testing.T, seed uint64, b *budget, loans []*openLoan) {
	t.Helper()
	fixed := int64(0)
	for _, l := range loans {
		if l.revoke == nil {
			fixed += l.held
		}
		if l.revoke == nil && l.revoked {
			t.Fatalf("seed %d: what is being decoded gave way", seed)
		}
	}
	if fixed != b.fixed {
		t.Fatalf("seed %d: %d cannot give way, and are said to be %d", seed, fixed, b.fixed)
	}
}

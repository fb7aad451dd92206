// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

type handler = func(*http.Request) (*http.Response, error)

func broken(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

// failing answers the first questions for which of is true by fail.
func (m *fakeMember) failing(first int, fail handler, of func(*http.Request) bool) handler {
	return func(r *http.Request) (*http.Response, error) {
		failed := false
		m.Set(func() {
			if of(r) && first > 0 {
				first--
				failed = true
			}
		})
		if failed {
			return fail(r)
		}
		return m.list(r)
	}
}

func anything(*http.Request) bool { return true }

func about(namespaces ...string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return slices.ContainsFunc(namespaces, func(n string) bool { return strings.Contains(r.URL.Path, "/namespaces/"+n+"/") })
	}
}

// justAfterARound waits for a moment at which the next round of the only member is nearly a period away.
func (f *fleetOf) justAfterARound() {
	pass(resolution)
	synctest.Wait()
	for _, sc := range f.scrapers {
		sc.mu.Lock() // as the next round does before it uses the beat
		next := sc.beat.next
		sc.mu.Unlock()
		pass(time.Until(next) + time.Millisecond)
	}
	synctest.Wait()
}

func (f *fleetOf) coverage(t *testing.T, namespace string) string {
	t.Helper()
	return f.Pods(t.Context(), inNamespace(namespace)).Coverage().Header()
}

// untilWhole returns how long it takes until all members answer about the namespace.
func (f *fleetOf) untilWhole(t *testing.T, namespace string) time.Duration {
	t.Helper()
	start := time.Now()
	for len(f.Pods(t.Context(), inNamespace(namespace)).Silent) > 0 {
		pass(50 * time.Millisecond)
		if time.Since(start) > 5*resolution {
			t.Fatalf("%s: coverage %q after 5 periods", namespace, f.coverage(t, namespace))
		}
	}
	return time.Since(start)
}

func TestFirstScrapeThatFailsIsTriedAgainSoon(t *testing.T) {
	const poll, deadline = 50 * time.Millisecond, 5 * time.Second
	for name, tc := range map[string]struct {
		fail  handler
		takes time.Duration
	}{
		"a server that fails":         {refuse(503), 0},
		"one that has too much to do": {refuse(429), 0},
		"no connection":               {broken, 0},
		"no answer in time":           {memberstest.Hang, deadline},
	} {
		t.Run(name, func(t *testing.T) {
			for failures := 1; failures <= 3; failures++ {
				synctest.Test(t, func(t *testing.T) {
					east := newFakeMember("east", pods("shop", 1)...)
					east.Handle = east.failing(failures, tc.fail, anything)
					f := startStore(t, east)
					f.justAfterARound()
					if coverage := f.coverage(t, "shop"); !strings.HasPrefix(coverage, "silent=east") {
						t.Fatalf("coverage %q of the first answer", coverage)
					}
					pauses := time.Second<<failures - time.Second // 1 s, and 2 s more, and 4 s more
					least := pauses + time.Duration(failures-1)*tc.takes
					most := least + time.Duration(retryJitter*float64(pauses)) + poll
					left := resolution - tc.takes
					inRound := most > left // the round comes first
					if inRound {
						least, most = 0, left+tc.takes+poll
					}
					if took := f.untilWhole(t, "shop"); took < least || took > most {
						t.Errorf("after %d failures it took %v until the answer was whole, want between %v and %v", failures, took, least, most)
					}
					if got, want := east.asks(), int64(failures+1); got != want {
						t.Errorf("asked %d times, want %d", got, want)
					}
					if f.scrapers["east"].targets[key{resource: podsResource, namespace: "shop"}].onBeat != inRound {
						t.Error("an answer that came between rounds is taken for one of the member's beat")
					}
				})
			}
		})
	}
}

func TestWhatWillNotPassIsNotTriedAgainSoon(t *testing.T) {
	for name, fail := range map[string]handler{
		"forbidden":   refuse(403),
		"no such API": refuse(404),
		"garbage": func(*http.Request) (*http.Response, error) {
			return memberstest.Respond(200, "text/html", []byte("<html>")), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east", pods("shop", 1)...)
				east.Handle = fail
				f := startStore(t, east)
				f.justAfterARound()
				f.coverage(t, "shop")
				pass(resolution - time.Second)
				fleettest.Same(t, "times asked before the next round", int64(1), east.asks())
			})
		})
	}
}

// What was answered before is still served.
func TestWhatWasAnsweredBeforeIsLeftToTheRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		f := startStore(t, east)
		f.justAfterARound()
		f.coverage(t, "shop")
		east.Set(func() { east.Handle = refuse(503) })
		before := east.asks()
		pass(3 * resolution)
		synctest.Wait()
		fleettest.Same(t, "times asked in 3 periods", int64(3), east.asks()-before)
		if got, want := f.coverage(t, "shop"), "answered=east"; got != want {
			t.Errorf("coverage %q, want %q", got, want)
		}
	})
}

// However many namespaces wait, a member that is down gets one request at a time, and four in all.
func TestMemberThatIsDownIsNotHammered(t *testing.T) {
	const periods = 20
	for name, tc := range map[string]struct {
		fail   handler
		rounds int64
	}{
		"fails":                            {refuse(503), periods},
		"hangs, which takes up its period": {memberstest.Hang, periods * 3 / 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const namespaces = 200
				east := newFakeMember("east", manyNamespaces(namespaces, 1)...)
				atOnce, most := 0, 0
				east.Handle = func(r *http.Request) (*http.Response, error) {
					east.Set(func() { atOnce++; most = max(most, atOnce) })
					defer east.Set(func() { atOnce-- })
					return tc.fail(r)
				}
				f := startStoreOf(t, namespaces, east)
				f.justAfterARound()
				var first []string
				for i := range namespaces {
					first = append(first, fmt.Sprintf("ns-%03d", i))
				}
				f.touchAll(first)
				synctest.Wait()
				asked := east.asks()
				if asked > namespaces {
					t.Fatalf("asked %d times at first, want once for each namespace at most", asked)
				}
				pass(5*time.Second + time.Millisecond) // they have failed
				east.Set(func() { most = 0 })
				pass(periods * resolution)
				synctest.Wait()
				if got, want := east.asks()-asked, tc.rounds+4; got != want {
					t.Errorf("asked %d times more in %d periods, want %d: once in each round, and four times at first", got, periods, want)
				}
				if most > 2 { // a round's, and one more
					t.Errorf("%d requests at once", most)
				}
			})
		})
	}
}

// touchAll has the namespaces asked for, without waiting for answers.
func (f *fleetOf) touchAll(namespaces []string) {
	for _, namespace := range namespaces {
		f.touch(key{resource: podsResource, namespace: namespace}, nil)
	}
}

// A member that was away for a moment is asked for the others as in a round: for many at once.
func TestOthersAreTriedAgainTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		namespaces int
		forbidden  int   // lists of all
		others     int64 // requests
	}{
		"few":                             {3, 0, 2},
		"many":                            {200, 0, 1},
		"many, and no list of all is had": {200, 1000, 1 + 199},
	} {
		t.Run(name, func(t *testing.T) {
			namespaces, others := tc.namespaces, tc.others
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east", manyNamespaces(namespaces, 1)...)
				all, back := east.failing(tc.forbidden, refuse(403), forAll), time.Now()
				east.Handle = func(r *http.Request) (*http.Response, error) {
					switch {
					case time.Now().Before(back):
						return refuse(503)(r)
					case forAll(r):
						return all(r)
					default:
						return east.list(r)
					}
				}
				f := startStoreOf(t, namespaces, east)
				f.justAfterARound()
				east.Set(func() { back = time.Now().Add(1500 * time.Millisecond) })
				f.askAbout(t, namespaces)
				before := east.asks()
				pass(time.Second + 2*time.Second + 600*time.Millisecond)
				for i := range namespaces {
					if got, want := f.coverage(t, fmt.Sprintf("ns-%03d", i)), "answered=east"; got != want {
						t.Fatalf("namespace %d: coverage %q, want %q", i, got, want)
					}
				}
				if got, want := east.asks()-before, 2+others; got != want {
					t.Errorf("asked %d times more, want once without success, once with it, and %d for the others", got, others)
				}
				for k, target := range f.scrapers["east"].targets {
					if target.onBeat {
						t.Fatalf("%v: an answer that came between rounds is taken for one of the member's beat", k)
					}
				}
			})
		})
	}
}

// What fails for a reason of its own says nothing of the others.
func TestPilotThatIsForbidden(t *testing.T) {
	for range 10 { // either may be the pilot
		synctest.Test(t, func(t *testing.T) {
			east := newFakeMember("east", append(pods("shop", 1), pods("bank", 1)...)...)
			east.Handle = refuse(503)
			f := startStore(t, east)
			f.justAfterARound()
			f.coverage(t, "shop")
			f.coverage(t, "bank")
			east.Set(func() { east.Handle = east.failing(100, refuse(403), about("bank")) })
			if took := f.untilWhole(t, "shop"); took > 1300*time.Millisecond {
				t.Errorf("it took %v until there was an answer", took)
			}
			if got, want := f.coverage(t, "bank"), "silent=east:Forbidden"; got != want {
				t.Errorf("coverage %q where it is forbidden, want %q", got, want)
			}
		})
	}
}

// One namespace that is never answered, as when it is too large for the deadline, takes nothing from newer ones.
func TestNamespaceThatIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", append(pods("shop", 1), pods("bank", 1)...)...)
		east.Handle = east.failing(1000, memberstest.Hang, about("large"))
		f := startStore(t, east)
		f.coverage(t, "large")
		pass(4 * resolution)
		f.justAfterARound()
		before := east.asks()
		pass(resolution - time.Second)
		if asked := east.asks() - before; asked > 1 {
			t.Errorf("asked %d times in a later period, want once", asked)
		}
		f.justAfterARound()
		pass(5 * time.Second) // the round has ended
		large := east.Handle
		fail := east.failing(1, refuse(503), about("shop"))
		east.Set(func() {
			east.Handle = func(r *http.Request) (*http.Response, error) {
				if about("shop")(r) {
					return fail(r)
				}
				return large(r)
			}
		})
		if took := f.untilWhole(t, "shop"); took < time.Second || took > 1300*time.Millisecond {
			t.Errorf("it took %v until a newer namespace was answered that failed once, want 1 s", took)
		}
	})
}

// A silent member has nothing retried, but its first round once it is ready may fail as well.
func TestFirstRoundThatFailsIsTriedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		east.Silent = &fleet.Silence{Reason: fleet.ReasonUnreachable, Detail: "connection refused"}
		east.Handle = east.failing(1, refuse(503), anything)
		f := startStore(t, east)
		synctest.Wait()
		f.coverage(t, "shop")
		pass(4 * resolution)
		f.justAfterARound()
		east.Set(func() { east.Silent = nil })
		f.MembersChanged()
		synctest.Wait()
		if got, want := f.coverage(t, "shop"), "silent=east:ServerError"; got != want {
			t.Fatalf("coverage %q as soon as it is ready, want %q", got, want)
		}
		if took := f.untilWhole(t, "shop"); took > 1300*time.Millisecond {
			t.Errorf("it took %v until there was an answer", took)
		}
	})
}

func TestMemberThatLeftIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		east.Handle = refuse(503)
		f := startStore(t, east)
		f.justAfterARound()
		f.coverage(t, "shop")
		start := time.Now()
		f.setMembers()
		synctest.Wait()
		f.running.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v until all that was started for it had ended", took)
		}
		pass(2 * resolution)
		fleettest.Same(t, "times asked", int64(1), east.asks())
	})
}

// A store that ends waits for what is under way.
func TestTryingAgainIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		release := make(chan struct{})
		east.Handle = east.failing(1, refuse(503), anything)
		f := startStore(t, east)
		f.justAfterARound()
		f.coverage(t, "shop")
		east.Set(func() {
			east.Handle = func(r *http.Request) (*http.Response, error) {
				<-release // whatever becomes of the asker
				return east.list(r)
			}
		})
		pass(2 * time.Second)
		f.setMembers()
		ended := make(chan struct{})
		go func() {
			f.running.Wait()
			close(ended)
		}()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("it is not waited for")
		default:
		}
		close(release)
		<-ended
	})
}

// A member's beat is not lost over a namespace that is retried.
func TestBeatIsKeptWhileANamespaceIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		f := startStore(t, east)
		synctest.Wait()
		f.coverage(t, "shop")
		for range 20 {
			f.coverage(t, "shop")
			pass(resolution)
		}
		if !f.scrapers["east"].state(time.Now()).locked {
			t.Fatal("the member's beat was not found in 5 minutes")
		}
		f.justAfterARound()
		var asked []time.Time
		east.Set(func() {
			east.Handle = func(r *http.Request) (*http.Response, error) {
				if about("large")(r) {
					return memberstest.Hang(r)
				}
				east.Set(func() { asked = append(asked, time.Now()) })
				return east.list(r)
			}
		})
		pass(5 * time.Second) // so that the second time is under way when the round is due
		f.coverage(t, "large")
		pass(4 * resolution)
		synctest.Wait()
		for i := range asked[1:] {
			if between := asked[i+1].Sub(asked[i]); between != resolution {
				t.Errorf("%v between two questions to a member whose beat is known, want %v", between, resolution)
			}
		}
	})
}

func TestAnswersOutOfOrder(t *testing.T) {
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	target := newTarget(key{})
	newer := &Batch{}
	target.keep(attempt{sent: at(2), received: at(3), batch: &Batch{}})
	target.keep(attempt{sent: at(2), received: at(3), batch: newer}) // of the same moment: the last
	target.keep(attempt{sent: at(1), received: at(4), batch: &Batch{}})
	target.keep(attempt{sent: at(1), received: at(5), err: errors.New("connection refused")})
	if target.batch != newer || !target.asked.Equal(at(2)) || target.failed() {
		t.Errorf("what was asked for earlier and came later is kept: asked %v, failed %v", target.asked.Sub(start), target.failed())
	}
}

// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// pass lets time go by, and what is under way settle.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func expectRequests(t *testing.T, m *fakeMember, want ...string) {
	t.Helper()
	fleettest.Same(t, "requests to "+m.Name(), want, m.asked())
}

const aWatch = "namespaces/shop/configmaps watch=true"

func TestFirstQuestionListsInPagesAndOthersAskNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "other/x")
		for i := range 1200 {
			east.put(fmt.Sprintf("shop/c%04d", i), "1")
		}
		r := start(t)
		a := r.ask(east, "shop")
		if len(a.Objects) != 1200 || !a.Known || a.Silence != nil {
			t.Errorf("%d objects, known %v, silence %v; want 1200", len(a.Objects), a.Known, a.Silence)
		}
		if !slices.IsSortedFunc(a.Objects, inOrder[*thing]) {
			t.Error("the objects are not in order")
		}
		if o, found := a.Find(Key{"shop", "c0777"}); !found || o.key.Name != "c0777" {
			t.Errorf("Find(c0777) = %v, %v", o, found)
		}
		if o, found := a.Find(Key{"shop", "none"}); found {
			t.Errorf("Find(none) = %v", o)
		}
		pass(0)
		expectRequests(t, east, "namespaces/shop/configmaps limit=500", "namespaces/shop/configmaps limit=500 continue=500",
			"namespaces/shop/configmaps limit=500 continue=1000", aWatch)
		for range 100 {
			r.ask(east, "shop")
		}
		expectRequests(t, east)
	})
}

func TestAnswersFollowChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/b", "shop/d", "other/x")
		r := start(t)
		first := r.expect(east, "shop", "shop/b=0 shop/d=0")
		pass(0)
		east.put("shop/a", "1")
		east.put("shop/c", "1")
		east.put("shop/e", "1")
		east.put("other/y", "1")
		pass(0)
		second := r.expect(east, "shop", "shop/a=1 shop/b=0 shop/c=1 shop/d=0 shop/e=1")
		east.put("shop/b", "2")
		east.remove("shop/a")
		east.remove("shop/e")
		pass(time.Minute)
		third := r.expect(east, "shop", "shop/b=2 shop/c=1 shop/d=0")
		if third.AsOf != time.Now() {
			t.Errorf("as of %v, want now: the watch is open", third.AsOf)
		}
		east.remove("shop/b")
		pass(0)
		r.expect(east, "shop", "shop/c=1 shop/d=0")
		for want, a := range map[string]Answer[*thing]{
			"shop/b=2 shop/c=1 shop/d=0": third,
			"shop/b=0 shop/d=0":          first, "shop/a=1 shop/b=0 shop/c=1 shop/d=0 shop/e=1": second,
		} {
			if got := tell(a); got != want {
				t.Errorf("an answer changed into %q, it was %q", got, want)
			}
		}
	})
}

// Where some namespaces are in scope, each is followed by itself, however many there are. Others, or all, are asked of nobody.
func TestScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names, want []string
		east := newFakeMember("east", "other/x")
		for i := range 2 * fewNamespaces {
			name := fmt.Sprintf("shop-%02d", i)
			names = append(names, name)
			east.put(name+"/a", "1")
			want = append(want, "namespaces/"+name+"/configmaps limit=500", "namespaces/"+name+"/configmaps watch=true")
		}
		scope, err := tenancy.NewScope(names)
		if err != nil {
			t.Fatal(err)
		}
		r := start(t, func(o *Options[*corev1.ConfigMap, *thing]) { o.Scope = scope })
		for _, name := range names {
			r.expect(east, name, name+"/a=1")
		}
		pass(time.Minute)
		got := east.asked()
		slices.Sort(got)
		fleettest.Same(t, "requests", want, got)
		for namespace, detail := range map[string]string{
			"": "they are not of single namespaces, and --namespaces restricts fleetscale to namespaces shop-00, shop-01, shop-02, shop-03, " +
				"shop-04 and 27 more",
			"other": `fleetscale acts in namespaces shop-00, shop-01, shop-02, shop-03, shop-04 and 27 more only, and not in namespace "other": ` +
				"whoever runs it adds that to --namespaces",
		} {
			a := r.ask(east, namespace)
			if a.Known || len(a.Objects) > 0 {
				t.Errorf("%q: it is known", namespace)
			}
			fleettest.Same(t, "silence", &fleet.Silence{Reason: ReasonOutOfScope, Detail: detail}, a.Silence)
		}
		pass(time.Minute)
		expectRequests(t, east)
	})
}

func TestAllNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/b", "alpha/z", "shop/a", "zoo/a")
		east.reversed = true
		r := start(t)
		a := r.expect(east, "", "alpha/z=0 shop/a=0 shop/b=0 zoo/a=0")
		if _, found := a.Find(Key{"shop", "a"}); !found {
			t.Error("shop/a is not found")
		}
		pass(0)
		east.put("beta/q", "1")
		pass(0)
		r.expect(east, "", "alpha/z=0 beta/q=1 shop/a=0 shop/b=0 zoo/a=0")
		east.remove("shop/b")
		pass(0)
		r.expect(east, "", "alpha/z=0 beta/q=1 shop/a=0 zoo/a=0")
		expectRequests(t, east, "configmaps limit=500", "configmaps watch=true")
	})
}

// A server ends each watch now and then. That is no silence, and needs no list.
func TestAWatchThatEndsIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		r := start(t)
		r.expect(east, "shop", "shop/a=0")
		for range 5 {
			pass(4 * time.Minute)
			east.breakWatches(false)
			r.expect(east, "shop", "shop/a=0")
		}
		east.put("shop/b", "1")
		pass(5 * time.Second)
		r.expect(east, "shop", "shop/a=0 shop/b=1")
		if n := strings.Count(strings.Join(east.asked(), "\n"), "limit"); n != 1 {
			t.Errorf("%d lists, want the first one only", n)
		}
	})
}

func TestAVersionTooOldIsListedAnew(t *testing.T) {
	tests := map[string]func(*fakeMember){
		"when a watch begins": func(m *fakeMember) { m.breakWatches(true) },
		"in the midst of a watch": func(m *fakeMember) {
			m.Set(func() {
				for _, w := range m.watchers {
					fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
				}
			})
		},
	}
	for name, refuse := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east", "shop/a")
				r := start(t)
				r.expect(east, "shop", "shop/a=0")
				pass(time.Minute)
				east.Set(func() { delete(east.objects, Key{"shop", "a"}) }) // and nobody said so
				east.Set(func() { east.history = nil })
				refuse(east)
				for range 50 {
					if a := r.ask(east, "shop"); a.Silence != nil {
						t.Fatalf("silent: %v", a.Silence)
					}
					pass(100 * time.Millisecond)
				}
				r.expect(east, "shop", "")
				east.put("shop/b", "1")
				pass(0)
				r.expect(east, "shop", "shop/b=1")
				for _, request := range east.asked() {
					if !strings.Contains(request, "watch=true") && !strings.Contains(request, "limit=500") {
						t.Errorf("a list not in pages: %s", request)
					}
				}
			})
		})
	}
}

func TestAListThatExpiresIsReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		for i := range 700 {
			east.put(fmt.Sprintf("shop/c%04d", i), "1")
		}
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Has("continue") {
				return expired(), nil
			}
			return nil, nil
		}
		r := start(t)
		if a := r.ask(east, "shop"); len(a.Objects) != 700 || a.Silence != nil {
			t.Errorf("%d objects, %v; want 700", len(a.Objects), a.Silence)
		}
	})
}

// failing answers every request with the error.
func failing(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		var status *apierrors.StatusError
		if errors.As(err, &status) {
			return memberstest.Refusal(status), nil
		}
		return nil, err
	}
}

func TestWhatWasSeenOutlivesTheWatch(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no rights"))
	tests := map[string]struct {
		err  error
		want fleet.Reason
	}{
		"no connection":  {errors.New("connection reset by peer"), fleet.ReasonUnreachable},
		"no rights":      {forbidden, fleet.ReasonForbidden},
		"overloaded":     {apierrors.NewTooManyRequests("later", 1), fleet.ReasonRateLimited},
		"server error":   {apierrors.NewInternalError(errors.New("oops")), fleet.ReasonServerError},
		"no such API":    {apierrors.NewNotFound(schema.GroupResource{}, ""), fleet.ReasonBadAnswer},
		"no answer":      {context.DeadlineExceeded, fleet.ReasonTimeout},
		"refused client": {&fleet.Silence{Reason: "Refused"}, "Refused"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east", "shop/a")
				r := start(t)
				r.expect(east, "shop", "shop/a=0")
				pass(30 * time.Second)
				east.Set(func() { east.Handle = failing(tc.err) })
				east.breakWatches(false)
				broken := time.Now()
				pass(grace - time.Second)
				r.expect(east, "shop", "shop/a=0")
				pass(2 * time.Second)
				want := "shop/a=0 " + string(tc.want)
				for time.Since(broken) < time.Hour { // kept alive by asking
					if a := r.expect(east, "shop", want); !a.AsOf.Equal(broken) {
						t.Fatalf("after %v: as of %v, want %v", time.Since(broken), a.AsOf, broken)
					}
					pass(time.Minute)
				}
				pass(time.Minute)
				r.expect(east, "shop", "unknown "+string(tc.want))
				if n := len(east.asked()); n > 300 {
					t.Errorf("%d requests in an hour of failure", n)
				}
				east.Set(func() { east.Handle = nil })
				east.put("shop/b", "1")
				pass(2*longestWait + time.Second)
				r.expect(east, "shop", "shop/a=0 shop/b=1")
			})
		})
	}
}

func TestASilentMemberIsNotAskedAndKeepsWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		r := start(t)
		r.expect(east, "shop", "shop/a=0")
		pass(time.Minute)
		answered := time.Now()
		pass(15 * time.Second)
		// The member is frozen: the watch is open, and nothing comes.
		east.Set(func() {
			east.Silent, east.success = &fleet.Silence{Reason: fleet.ReasonTimeout}, answered
		})
		if a := r.expect(east, "shop", "shop/a=0 Timeout"); !a.AsOf.Equal(answered) {
			t.Errorf("as of %v, want %v, when it last answered", a.AsOf, answered)
		}
		east.asked()
		east.breakWatches(true)
		for range 30 {
			pass(time.Minute)
			if a := r.expect(east, "shop", "shop/a=0 Timeout"); !a.AsOf.Equal(answered) {
				t.Errorf("as of %v, want %v, when it last answered", a.AsOf, answered)
			}
		}
		if n := len(east.asked()); n > 2 {
			t.Errorf("%d requests to a silent member", n)
		}
		east.put("shop/b", "1")
		east.Set(func() { east.Silent, east.success = nil, time.Time{} })
		pass(2 * time.Second)
		r.expect(east, "shop", "shop/a=0 shop/b=1")
	})
}

func TestASilentMemberIsForgottenAfterMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		r := start(t)
		r.expect(east, "shop", "shop/a=0")
		east.Set(func() { east.Silent, east.success = &fleet.Silence{Reason: fleet.ReasonTimeout}, time.Now() })
		for range 61 {
			r.expect(east, "shop", "shop/a=0 Timeout")
			pass(time.Minute)
		}
		r.expect(east, "shop", "unknown Timeout")
		r.mu.Lock()
		if n := len(r.clusters[east].byNamespace["shop"].shelves.lend(all)); n > 0 {
			t.Errorf("%d objects are kept that no answer shows", n)
		}
		r.mu.Unlock()
		east.Set(func() { east.Silent, east.success = nil, time.Time{} })
		pass(2 * time.Second)
		r.expect(east, "shop", "shop/a=0")
		fleettest.Same(t, "watches", 1, east.watched())
	})
}

func TestFirstQuestion(t *testing.T) {
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	tests := map[string]struct {
		prepare func(*fakeMember)
		want    string
		within  time.Duration
	}{
		"of a silent member waits for nothing": {
			func(m *fakeMember) { m.Silent = &fleet.Silence{Reason: "NotContacted"} }, "unknown NotContacted", 0,
		},
		"of a member that refuses waits for no second try": {
			func(m *fakeMember) { m.Handle = failing(apierrors.NewForbidden(schema.GroupResource{}, "", nil)) }, "unknown Forbidden", 0,
		},
		"of a member that hangs waits for the asker": {
			func(m *fakeMember) { m.Handle = hang }, "unknown NotListed", time.Minute,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east", "shop/a")
				tc.prepare(east)
				r := start(t)
				asked := time.Now()
				r.expect(east, "shop", tc.want)
				if took := time.Since(asked); took > tc.within {
					t.Errorf("it took %v, want %v at most", took, tc.within)
				}
			})
		})
	}
}

func TestWhatNobodyAsksForIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a", "cart/a")
		r := start(t)
		r.expect(east, "shop", "shop/a=0")
		r.expect(east, "cart", "cart/a=0")
		for range 9 {
			pass(time.Minute)
			r.expect(east, "cart", "cart/a=0")
			if n := east.watched(); n < 1 {
				t.Fatalf("%d watches", n)
			}
		}
		fleettest.Same(t, "watches, which is that of cart", 1, east.watched())
		east.asked()
		east.remove("shop/a")
		r.expect(east, "shop", "")
		pass(0)
		expectRequests(t, east, "namespaces/shop/configmaps limit=500", aWatch)
		pass(6 * time.Minute)
		fleettest.Same(t, "watches", 0, east.watched())
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(r.clusters); n != 0 {
			t.Errorf("%d members are left", n)
		}
	})
}

func TestAnotherMemberOfTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, other := newFakeMember("east", "shop/a"), newFakeMember("east", "shop/b")
		r := start(t)
		r.expect(east, "shop", "shop/a=0")
		r.expect(other, "shop", "shop/b=0")
		other.Set(func() { other.Silent = &fleet.Silence{Reason: fleet.ReasonTimeout} })
		r.expect(other, "shop", "shop/b=0 Timeout")
	})
}

func TestCredentialsAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		east.client = "old"
		r := start(t)
		r.expect(east, "shop", "shop/a=0")
		pass(time.Minute)
		east.Set(func() { east.client, east.tokens = "new", nil })
		east.breakWatches(true) // as the old connection does
		east.put("shop/b", "1")
		pass(5 * time.Second)
		r.expect(east, "shop", "shop/a=0 shop/b=1")
		east.Set(func() {
			if len(east.tokens) == 0 || slices.Contains(east.tokens, "old") {
				t.Errorf("asked with %v, want the new credentials only", east.tokens)
			}
		})
	})
}

func TestManyMembersAreListedInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		reading, most, peers := 0, 0, map[string]int{}
		work := func(ctx context.Context, r *http.Request) {
			mu.Lock()
			reading++
			most = max(most, reading)
			mu.Unlock()
			time.Sleep(200 * time.Millisecond)
			mu.Lock()
			reading--
			mu.Unlock()
		}
		r := start(t)
		var all sync.WaitGroup
		began := time.Now()
		for i := range 100 {
			m := newFakeMember(fmt.Sprintf("m%d", i), "shop/a", "cart/a", "user/a", "mail/a")
			m.slow = work
			for _, namespace := range []string{"shop", "cart", "user", "mail"} {
				all.Go(func() {
					r.expect(m, namespace, namespace+"/a=0")
					m.Lock()
					defer m.Unlock()
					mu.Lock()
					defer mu.Unlock()
					peers[m.Name()] = m.most
				})
			}
		}
		all.Wait()
		if most != 8 {
			t.Errorf("%d pages were read at one time, want 8", most)
		}
		for name, n := range peers {
			if n > pagesEach {
				t.Errorf("%d pages were read from %s at one time, want %d at most", n, name, pagesEach)
			}
		}
		if took := time.Since(began); took != 400*200*time.Millisecond/8 {
			t.Errorf("400 lists of 0.2 s took %v, want all places used", took)
		}
	})
}

func TestOneSlowMemberHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, east := newFakeMember("slow"), newFakeMember("east", "shop/a")
		slow.slow = func(ctx context.Context, _ *http.Request) { <-ctx.Done() }
		r := start(t)
		for i := range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			go r.Ask(ctx, slow, fmt.Sprintf("n%d", i))
		}
		pass(100 * time.Millisecond)
		asked := time.Now()
		r.expect(east, "shop", "shop/a=0")
		if took := time.Since(asked); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// After an outage of the hub's network, all come back at the same moment.
func TestMembersThatComeBackTogetherAreAskedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		members := make([]*fakeMember, 50)
		for i := range members {
			members[i] = newFakeMember(fmt.Sprintf("m%d", i), "shop/a")
			members[i].Silent = &fleet.Silence{Reason: fleet.ReasonUnreachable}
			r.expect(members[i], "shop", "unknown Unreachable")
		}
		var mu sync.Mutex
		times := map[time.Duration]int{}
		pass(time.Minute)
		back := time.Now()
		for _, m := range members {
			m.slow = func(context.Context, *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				times[time.Since(back).Round(100*time.Millisecond)]++
			}
			m.Set(func() { m.Silent = nil })
		}
		pass(2 * readyPoll)
		for _, m := range members {
			r.expect(m, "shop", "shop/a=0")
		}
		if len(times) < 5 {
			t.Errorf("50 members were asked at %v after they came back", times)
		}
	})
}

func TestBeforeAndAfterRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", "shop/a")
		m := New(Options[*corev1.ConfigMap, *thing]{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Keep: keepThing})
		early := make(chan string)
		go func() { early <- tell(m.Ask(t.Context(), east, "shop")) }()
		synctest.Wait()
		r := &running{Mirror: m, t: t}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		if got := <-early; got != "shop/a=0" {
			t.Errorf("a question from before Run: %q", got)
		}
		west := newFakeMember("west")
		west.slow = func(ctx context.Context, _ *http.Request) { <-ctx.Done() }
		late := make(chan string)
		go func() { late <- tell(m.Ask(t.Context(), west, "shop")) }()
		synctest.Wait()
		cancel()
		if got := <-late; got != "unknown NotListed" {
			t.Errorf("a question that Run's end meets: %q", got)
		}
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
		east.asked()
		ended := time.Now()
		r.expect(east, "cart", "unknown NotListed")
		expectRequests(t, east)
		if took := time.Since(ended); took > 0 {
			t.Errorf("an answer after Run took %v", took)
		}
	})
}

// Whatever happens, an answer is what the member had at some time not long ago,
// and in the end what it has.
func TestChangesAreNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		r := start(t)
		for i := range 2000 {
			switch name := fmt.Sprintf("shop/c%02d", (i*7)%50); {
			case i%3 == 2 && east.objects[keyNamed(name)] != nil:
				east.remove(name)
			default:
				east.put(name, fmt.Sprint(i))
			}
			switch i % 100 {
			case 50:
				east.breakWatches(false)
			case 99:
				east.breakWatches(true)
				pass(3 * time.Second)
			}
			if i%10 == 0 {
				pass(10 * time.Millisecond)
				r.ask(east, "shop")
			}
		}
		pass(time.Minute)
		var want []string
		for key, o := range east.objects {
			want = append(want, key.Namespace+"/"+key.Name+"="+o.Data["value"])
		}
		slices.Sort(want)
		r.expect(east, "shop", strings.Join(want, " "))
	})
}

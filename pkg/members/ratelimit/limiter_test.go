// SPDX-License-Identifier: Apache-2.0

package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestClassOfRequests(t *testing.T) {
	tests := map[string]string{
		"GET /apis/metrics.k8s.io/v1beta1/namespaces/shop/pods":                "scraped shop",
		"GET /apis/metrics.k8s.io/v1beta1/pods":                                "scraped ",
		"GET /apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps":   "relayed shop",
		"GET /apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/metrics/rps":  "relayed shop",
		"GET /apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue":      "relayed shop",
		"GET /apis/custom.metrics.k8s.io":                                      "relayed ",
		"GET /apis/custom.metrics.k8s.io/v1beta2/nodes/a/rps":                  "relayed ",
		"PUT /apis/apps/v1/namespaces/shop/deployments/web/scale":              "written shop",
		"POST /api/v1/namespaces/shop/pods/web/eviction":                       "written shop",
		"PATCH /apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/a/rps": "written shop",
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":          "other ",
		"POST /apis/authorization.k8s.io.example.com/v1/reviews":               "written ",
		"GET /apis/apps/v1/namespaces/shop/deployments/web/scale":              "other shop",
		"GET /api/v1/pods":                 "other ",
		"GET /api/v1/namespaces/shop/pods": "other shop",
		"GET /apis":                        "other ",
		"GET /apis/autoscaling/v2/namespaces/metrics.k8s.io/horizontalpodautoscalers":          "other metrics.k8s.io",
		"GET /apis/metrics.k8s.io.example.com/v1/namespaces/custom.metrics.k8s.io/deployments": "other custom.metrics.k8s.io",
	}
	for request, want := range tests {
		var method, path string
		_, _ = fmt.Sscan(request, &method, &path)
		of, namespace := Classify(method, path)
		if got := [classes]string{"scraped", "relayed", "written", "other"}[of] + " " + namespace; got != want {
			t.Errorf("%s is %q, want %q", request, got, want)
		}
	}
}

// However the classes ask: all of them together get no more than rate and burst allow, and one
// that asks without end gets its part of the rate at least, and all of it alone.
func TestTokensProperties(t *testing.T) {
	const steps, step = 2000, 10 * time.Millisecond
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 4))
		rate, burst := 1+r.Float64()*200, 1+r.IntN(200)
		start := time.Unix(1_700_000_000, 0)
		s := newTokens(burst, start)
		var got [classes]int
		asks := [classes]float64{1, r.Float64(), r.Float64(), r.Float64()} // how often; the first always
		if seed%4 == 0 {
			asks = [classes]float64{1, 0, 0, 0}
		}
		for i := 1; i <= steps; i++ {
			s.fill(start.Add(time.Duration(i)*step), rate)
			for range 1 + r.IntN(3) {
				for _, c := range r.Perm(classes) {
					if r.Float64() < asks[c] {
						for s.take(Class(c)) {
							got[c]++
						}
					}
				}
			}
		}
		all, seconds := got[0]+got[1]+got[2]+got[3], (steps * step).Seconds()
		if most := rate*seconds + float64(max(burst, classes+2)); float64(all) > most+1e-6 {
			t.Fatalf("seed %d: %d requests, want %v at most", seed, all, most)
		}
		if least := rate / classes * seconds; float64(got[0]) < least-1 {
			t.Fatalf("seed %d: %d requests of the first class, want its part %v", seed, got[0], least)
		}
		if seed%4 == 0 && float64(got[0]) < rate*seconds-5 {
			t.Fatalf("seed %d: %d requests of a class that is alone, want %v", seed, got[0], rate*seconds)
		}
	}
}

// asker asks all the time, some at once, and counts what becomes of it.
type asker struct {
	of        Class
	namespace string
	atOnce    int

	admitted, throttled atomic.Int64
	longest             atomic.Int64 // wait
}

func (a *asker) run(ctx context.Context, l *Limiter) {
	for range a.atOnce {
		go func() {
			for ctx.Err() == nil {
				begin := time.Now()
				switch err := l.Admit(ctx, a.of, a.namespace); {
				case err == nil:
					a.admitted.Add(1)
					a.longest.Store(max(a.longest.Load(), int64(time.Since(begin))))
				case Throttled(err):
					a.throttled.Add(1)
				}
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond): // it has been answered
				}
			}
		}()
	}
}

func during(t *testing.T, d time.Duration, l *Limiter, askers ...*asker) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for _, a := range askers {
		a.run(ctx, l)
	}
	<-ctx.Done()
	synctest.Wait()
}

// One tenant floods a member with questions. It waits for itself: scrapes, writes, and the questions of others do not.
func TestFloodOfOneTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(50, 100, 4*time.Second)
		flood := &asker{of: Relayed, namespace: "evil", atOnce: 500}
		during(t, 10*time.Second, l, flood) // the burst is gone
		if n := flood.admitted.Load(); n < 550 || n > 601 {
			t.Errorf("alone it got %d, want all there is", n)
		}
		flood.admitted.Store(0)
		scrapes, writes := &asker{of: Scraped, namespace: "shop", atOnce: 1}, &asker{of: Written, namespace: "shop", atOnce: 1}
		tenant, lists := &asker{of: Relayed, namespace: "shop", atOnce: 1}, &asker{of: Other, atOnce: 1}
		during(t, 20*time.Second, l, flood, scrapes, writes, tenant, lists)
		for name, a := range map[string]*asker{"scrapes": scrapes, "writes": writes, "another tenant": tenant, "lists": lists} {
			if a.admitted.Load() < 100 || a.throttled.Load() > 0 || a.longest.Load() > int64(150*time.Millisecond) {
				t.Errorf("%s: %d admitted, %d throttled, after %v at most; want about 200, none, at once", name, a.admitted.Load(),
					a.throttled.Load(), time.Duration(a.longest.Load()))
			}
		}
		if flood.throttled.Load() < 1000 || flood.admitted.Load() < 100 {
			t.Errorf("the flood: %d admitted, %d throttled; want what the others leave, and the rest", flood.admitted.Load(), flood.throttled.Load())
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for c, q := range l.queues {
			if len(q.turns) != 0 || len(q.waiting) != 0 {
				t.Errorf("class %d: %v wait after all have left", c, q)
			}
		}
	})
}

func TestNamespacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(40, 4, 20*time.Second)
		many, some, few := &asker{of: Relayed, namespace: "a", atOnce: 300}, &asker{of: Relayed, namespace: "b", atOnce: 30},
			&asker{of: Relayed, namespace: "c", atOnce: 1}
		during(t, 30*time.Second, l, many, some, few)
		fleettest.Same(t, "whether each got a third, or all it asked for", []bool{true, true, true}, []bool{
			many.admitted.Load() > 350, some.admitted.Load() > 350, few.admitted.Load() > 130, // once in 200 ms, of which it waits for half
		})
		if few.throttled.Load()+some.throttled.Load() > 0 {
			t.Errorf("%d and %d of those that ask less were throttled", some.throttled.Load(), few.throttled.Load())
		}
	})
}

// A process that has part of the rate sends so many, with the burst of its own; when its part changes, it sends at the new rate.
func TestPartOfTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, part := New(40, 4, 4*time.Second), 0.25
		l.Part = func() float64 { return part }
		a := &asker{of: Other, namespace: "a", atOnce: 300}
		during(t, 20*time.Second, l, a)
		if got := a.admitted.Swap(0); got < 195 || got > 206 {
			t.Errorf("%d requests in 20 s by a quarter of 40 a second", got)
		}
		part = 1
		during(t, 20*time.Second, l, a)
		if got := a.admitted.Load(); got < 790 || got > 806 {
			t.Errorf("%d requests in 20 s by all of 40 a second", got)
		}
		part = 0.01
		for range 3 { // one is sent at most, one waits, and one cannot be served in time
			go func() { _ = l.Admit(t.Context(), Other, "b") }()
		}
		synctest.Wait()
		if err := l.Admit(t.Context(), Other, "b"); !Throttled(err) {
			t.Errorf("%v; want to be told at once", err)
		}
		time.Sleep(5 * time.Second)
	})
}

func TestWaitingEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(0.001, 1, 4*time.Second)
		if err := l.Admit(t.Context(), Scraped, ""); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		first := make(chan error, 1)
		go func() { first <- l.Admit(t.Context(), Scraped, "") }()
		synctest.Wait()
		if err := l.Admit(t.Context(), Scraped, ""); !Throttled(err) || time.Since(begin) != 0 {
			t.Errorf("%v after %v; want to be told at once that it cannot be served in time", err, time.Since(begin))
		}
		if err := <-first; !Throttled(err) || time.Since(begin) != 2*time.Second {
			t.Errorf("%v after %v; want throttled, after half of the deadline", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Admit(ctx, Scraped, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v; want the asker's deadline", err)
		}
	})
}

func TestQueue(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r, q := rand.New(rand.NewPCG(seed, 5)), queue{}
		var all []*waiter
		for range 200 {
			switch n := len(all); {
			case n == 0 || r.IntN(2) == 0:
				w := &waiter{namespace: string(rune('a' + r.IntN(4)))}
				q.push(w)
				all = append(all, w)
			case r.IntN(2) == 0:
				w := all[r.IntN(n)]
				if !q.remove(w) || q.remove(w) {
					t.Fatalf("seed %d: not removed once", seed)
				}
				all = without(all, w)
			default:
				w := q.pop()
				for _, earlier := range all {
					if earlier == w {
						break
					}
					if earlier.namespace == w.namespace {
						t.Fatalf("seed %d: who came later goes first", seed)
					}
				}
				all = without(all, w)
			}
			waiting := 0
			for namespace, of := range q.waiting {
				waiting += len(of)
				if len(of) == 0 || count(q.turns, namespace) != 1 {
					t.Fatalf("seed %d: turns %v, waiting %v", seed, q.turns, q.waiting)
				}
			}
			if waiting != len(all) || len(q.turns) != len(q.waiting) {
				t.Fatalf("seed %d: %d wait, want %d", seed, waiting, len(all))
			}
		}
	}
}

func without(all []*waiter, w *waiter) (rest []*waiter) {
	for _, other := range all {
		if other != w {
			rest = append(rest, other)
		}
	}
	return rest
}

func count(all []string, of string) (n int) {
	for _, s := range all {
		if s == of {
			n++
		}
	}
	return n
}

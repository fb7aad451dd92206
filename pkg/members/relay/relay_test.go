// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

func TestEveryMemberIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		west.objects = []custom_metrics.MetricValue{object("web-0", "8"), object("web-1", "500m")}
		west.series = []external_metrics.ExternalMetricValue{oneSeries("a", "9"), oneSeries("b", "1")}
		f := startFleet(t, east, west)
		custom := f.Custom(t.Context(), podsRPS)
		fleettest.Same(t, "objects", []string{"east/web-0=5", "west/web-0=8", "west/web-1=500m"}, objectsIn(custom))
		wantCoverage(t, custom, "answered=east,west")
		external := f.External(t.Context(), queue)
		fleettest.Same(t, "series", []string{"east/a=7", "west/a=9", "west/b=1"}, seriesIn(external.Values))
		wantCoverage(t, external, "answered=east,west")

		onlyEast := podsRPS
		onlyEast.Clusters = func(name string) bool { return name == "east" }
		west.take()
		wantCoverage(t, f.Custom(t.Context(), onlyEast), "answered=east")
		if asked := west.take(); asked != nil {
			t.Errorf("west was asked %v by a question that is not for it", asked)
		}
	})
}

func TestValuesArriveWhole(t *testing.T) {
	for _, version := range []string{"v1beta1", "v1beta2"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				east.versions[customGroup] = []string{version}
				f := startFleet(t, east)
				fleettest.Same(t, "custom", east.objects, f.Custom(t.Context(), podsRPS).Values["east"])
				fleettest.Same(t, "external", east.series, f.External(t.Context(), queue).Values["east"])
			})
		})
	}
}

func TestJSONIsUnderstoodToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.values = saying(200, `{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1","metadata":{},
			"items":[{"metricName":"queue","metricLabels":{"queue":"a"},"timestamp":"2026-01-01T00:00:00Z","value":"1500m"}]}`)
		f := startFleet(t, east)
		fleettest.Same(t, "series", []string{"east/a=1500m"}, seriesIn(f.External(t.Context(), queue).Values))
	})
}

func TestOneRequestHoweverManyAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		release := make(chan struct{})
		for _, m := range []*fakeMember{east, west} {
			m.values = func(r *http.Request) (*http.Response, error) {
				<-release
				return m.answer(r), nil
			}
		}
		f := startFleet(t, east, west)
		var askers sync.WaitGroup
		for range 200 {
			askers.Go(func() {
				fleettest.Same(t, "objects", []string{"east/web-0=5", "west/web-0=5"}, objectsIn(f.Custom(t.Context(), podsRPS)))
			})
		}
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		askers.Go(func() { f.Custom(impatient, podsRPS) })
		cancel()
		synctest.Wait() // whose going ends nobody else's request
		close(release)
		askers.Wait()
		for _, m := range []*fakeMember{east, west} {
			fleettest.Same(t, "requests of 200 askers to "+m.Name(), 1, m.askedFor("rps"))
		}
	})
}

func TestRequestOutlivesWhoCausedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		release := make(chan struct{})
		east.values = func(r *http.Request) (*http.Response, error) {
			select {
			case <-release:
				return east.answer(r), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		f := startFleet(t, east)
		first, cancel := context.WithCancel(t.Context())
		go f.Custom(first, podsRPS)
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(release)
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=east")
		fleettest.Same(t, "times asked: the second asker takes the first one's request over", 1, east.askedFor("rps"))
	})
}

func TestOutcomesServeForAMoment(t *testing.T) {
	unknown := podsRPS
	unknown.Metric = "nonsense"
	tests := map[string]struct {
		question CustomQuestion
		values   memberstest.Handler
		want     string
	}{
		"an answer":    {podsRPS, nil, "answered=east"},
		"a failure":    {podsRPS, saying(500, "broken"), "silent=east:ServerError"},
		"an ignorance": {unknown, nil, "answered=east;absent=east"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				east.values = tc.values
				f := startFleet(t, east)
				steps := []struct {
					wait time.Duration
					asks int
				}{{0, 1}, {keepFor - 1, 1}, {1, 2}, {keepFor / 2, 2}, {keepFor / 2, 3}}
				for i, step := range steps {
					time.Sleep(step.wait)
					wantCoverage(t, f.Custom(t.Context(), tc.question), tc.want)
					fleettest.Same(t, fmt.Sprintf("times asked in step %d", i), step.asks, east.askedFor(tc.question.Metric))
				}
			})
		})
	}
}

func TestOutcomeIsKeptFromWhenItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.values = lateBy(3*time.Second, east)
		f := startFleet(t, east)
		f.Custom(t.Context(), podsRPS)
		time.Sleep(keepFor - 3*time.Second)
		f.Custom(t.Context(), podsRPS)
		fleettest.Same(t, "times asked: the values were as old as the question", 2, east.askedFor("rps"))
	})
}

// Else a member that takes its whole deadline to fail would be waited for by each question again.
func TestFailureIsKeptFromWhenItWasKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.values = memberstest.Hang
		f := startFleet(t, east)
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "silent=east:Timeout")
		time.Sleep(keepFor - time.Nanosecond)
		start := time.Now()
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "silent=east:Timeout")
		if took := time.Since(start); took > 0 {
			t.Errorf("the next question took %v, want none: the failure is known", took)
		}
		time.Sleep(time.Nanosecond)
		f.Custom(t.Context(), podsRPS)
		fleettest.Same(t, "times asked", 2, east.askedFor("rps"))
	})
}

func lateBy(d time.Duration, m *fakeMember) memberstest.Handler {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(d)
		return m.answer(r), nil
	}
}

func TestMemberThatHangs(t *testing.T) {
	tests := map[string]func(m *fakeMember){
		"with the values":    func(m *fakeMember) { m.values = memberstest.Hang },
		"with the discovery": func(m *fakeMember) { m.Handle = memberstest.Hang },
	}
	for name, hangs := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east, west := newFakeMember("east"), newFakeMember("west")
				hangs(west)
				f := startFleet(t, east, west)
				time.Sleep(20 * time.Second) // so that no discovery is under way
				start := time.Now()
				r := f.Custom(t.Context(), podsRPS)
				if took := time.Since(start); took != timeout {
					t.Errorf("the question took %v, want the member's deadline of %v", took, timeout)
				}
				wantCoverage(t, r, "answered=east;silent=west:Timeout")
				fleettest.Same(t, "objects", []string{"east/web-0=5"}, objectsIn(r))
			})
		})
	}
}

// stuck does not even notice that nobody waits any longer.
func TestMemberThatNeverComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		release := make(chan struct{})
		west.values = func(*http.Request) (*http.Response, error) {
			<-release
			return nil, context.DeadlineExceeded
		}
		f := startFleet(t, east, west)
		start := time.Now()
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=east;silent=west:Timeout")
		if took := time.Since(start); took != timeout+time.Second {
			t.Errorf("the question took %v, want %v", took, timeout+time.Second)
		}
		close(release)
	})
}

func TestAskerWithLittleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		west.values = memberstest.Hang
		f := startFleet(t, east, west)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		wantCoverage(t, f.Custom(ctx, podsRPS), "answered=east;silent=west:Timeout")
		if took := time.Since(start); took != time.Second {
			t.Errorf("the question took %v, want the asker's own second", took)
		}
	})
}

func TestWhatAMembersAnswerCountsAs(t *testing.T) {
	notFound := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no such metric"}`
	two := func(m *fakeMember) {
		m.objects = []custom_metrics.MetricValue{object("web-0", "1"), object("web-1", "2")}
	}
	onValues := func(h memberstest.Handler) func(*fakeMember) { return func(m *fakeMember) { m.values = h } }
	all := func(h memberstest.Handler) func(*fakeMember) { return func(m *fakeMember) { m.Handle = h } }
	byName := podsRPS
	byName.Subject.name = "web-0"
	tests := map[string]struct {
		question CustomQuestion
		member   func(*fakeMember)
		want     string
	}{
		"401":            {podsRPS, onValues(saying(401, "who are you")), "silent=east:Forbidden"},
		"403":            {podsRPS, onValues(saying(403, "no")), "silent=east:Forbidden"},
		"429":            {podsRPS, onValues(tooMany), "silent=east:RateLimited"},
		"500":            {podsRPS, onValues(saying(500, "broken")), "silent=east:ServerError"},
		"503":            {podsRPS, onValues(saying(503, "away")), "silent=east:ServerError"},
		"404 by the API": {podsRPS, onValues(saying(404, notFound)), "answered=east;absent=east"},
		"404 by nobody": {podsRPS, onValues(func(*http.Request) (*http.Response, error) { return pageNotFound(), nil }),
			"answered=east;absent=east"},
		"a page":           {podsRPS, onValues(saying(200, "<html>")), "silent=east:BadAnswer"},
		"nothing":          {podsRPS, onValues(saying(200, "")), "silent=east:BadAnswer"},
		"JSON of nobody's": {podsRPS, onValues(saying(200, `{"items":[]}`)), "silent=east:BadAnswer"},
		"another list": {podsRPS,
			onValues(saying(200, `{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1","items":[]}`)),
			"silent=east:BadAnswer"},
		"protobuf cut short": {podsRPS, onValues(saying(200, "k8s\x00\x0a\xff")), "silent=east:BadAnswer"},
		"a value that is none": {podsRPS,
			onValues(saying(200, `{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","items":[{"value":"many"}]}`)),
			"silent=east:BadAnswer"},
		"a list without items": {podsRPS, func(m *fakeMember) { m.objects = nil }, "answered=east"},
		"one object, by name":  {byName, func(*fakeMember) {}, "answered=east"},
		"no object, by name":   {byName, func(m *fakeMember) { m.objects = nil }, "answered=east;absent=east"},
		"two objects, by name": {byName, two, "answered=east"}, // the other one is dropped
		"it twice, by name": {byName, func(m *fakeMember) { m.objects = append(m.objects, m.objects...) },
			"silent=east:BadAnswer"},
		"another object, by name": {byName, func(m *fakeMember) { m.objects = []custom_metrics.MetricValue{object("web-7", "1")} },
			"silent=east:BadAnswer"},
		"two objects": {podsRPS, two, "answered=east"},
		"no such API": {podsRPS, func(m *fakeMember) { m.versions = nil }, "answered=east;absent=east"},
		"only unknown versions": {podsRPS, func(m *fakeMember) { m.versions[customGroup] = []string{"v1", "v1beta3"} },
			"answered=east;absent=east"},
		"403 of the discovery":   {podsRPS, all(saying(403, "no")), "silent=east:Forbidden"},
		"500 of the discovery":   {podsRPS, all(saying(500, "broken")), "silent=east:ServerError"},
		"a page for a discovery": {podsRPS, all(saying(200, "<html>")), "silent=east:BadAnswer"},
		"JSON for a discovery":   {podsRPS, all(saying(200, `{"ok":true}`)), "silent=east:BadAnswer"},
		"the hub": {podsRPS, func(m *fakeMember) { m.hub = true; m.Handle = saying(500, "must not be asked") },
			"answered=east;absent=east"},
		"known to be away":        {podsRPS, func(m *fakeMember) { m.Silent = away }, "silent=east:Unreachable"},
		"served by another hub":   {podsRPS, onValues(nested), "silent=east:NestedHub"},
		"the hub, though not yet": {podsRPS, func(m *fakeMember) { m.hub, m.Silent = true, away }, "answered=east;absent=east"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				tc.member(east)
				f := startFleet(t, east)
				start := time.Now()
				r := f.Custom(t.Context(), tc.question)
				wantCoverage(t, r, tc.want)
				if took := time.Since(start); took != 0 {
					t.Errorf("the answer took %v, want none", took)
				}
				if (east.hub || east.Silent != nil) && len(east.take()) > 0 {
					t.Error("the member was asked all the same")
				}
			})
		})
	}
}

// tooMany asks to come again, which is not for us to do: the asker's deadline runs.
func tooMany(*http.Request) (*http.Response, error) {
	r := memberstest.Respond(http.StatusTooManyRequests, runtime.ContentTypeJSON, []byte("slow down"))
	r.Header.Set("Retry-After", "1")
	return r, nil
}

func nested(*http.Request) (*http.Response, error) {
	return nil, &fleet.Silence{Reason: "NestedHub"}
}

func TestAPIThatIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := newFleetWith(func(o *Options) { o.Custom = false }, east).start(t)
		wantCoverage(t, f.External(t.Context(), queue), "answered=east")
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "")
		f.MembersChanged()
		time.Sleep(3 * period)
		for _, uri := range east.take() {
			if len(uri) >= len("/apis/custom") && uri[:len("/apis/custom")] == "/apis/custom" {
				t.Errorf("asked %s", uri)
			}
		}
		if n := len(f.CustomMetrics()); n != 0 {
			t.Errorf("%d custom metrics are listed, want none", n)
		}
	})
}

func TestMembersJoinAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		f := startFleet(t, east)
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=east")
		f.setMembers(east, west)
		synctest.Wait()
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=east,west")

		other := newFakeMember("east") // the name now means another cluster
		other.objects = []custom_metrics.MetricValue{object("db-0", "1")}
		f.setMembers(other)
		synctest.Wait()
		fleettest.Same(t, "objects", []string{"east/db-0=1"}, objectsIn(f.Custom(t.Context(), podsRPS)))
		east.take()
		time.Sleep(10 * period)
		if asked := east.take(); asked != nil {
			t.Errorf("a member that left is asked %v", asked)
		}
	})
}

func TestMemberLeavesWhileAsked(t *testing.T) {
	tests := map[string]func(m *fakeMember){
		"for values":          func(m *fakeMember) { m.values = memberstest.Hang },
		"for what it has":     func(m *fakeMember) { m.Handle = memberstest.Hang },
		"and says so at last": func(m *fakeMember) { m.values = lateAnswer(m) },
	}
	for name, hangs := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east, west := newFakeMember("east"), newFakeMember("west")
				hangs(west)
				f := startFleet(t, east, west)
				results := make(chan Result[custom_metrics.MetricValue])
				go func() { results <- f.Custom(t.Context(), podsRPS) }()
				synctest.Wait()
				start := time.Now()
				f.takeLog()
				f.setMembers(east)
				r := <-results
				wantCoverage(t, r, "answered=east;silent=west:Unreachable")
				want := "the cluster left the fleet during the request"
				if got := r.Silent["west"].Detail; got != want || time.Since(start) != 0 {
					t.Errorf("west is silent for %q after %v, want %q at once", got, time.Since(start), want)
				}
				wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=east")
				if logged := f.takeLog(); logged != nil {
					t.Errorf("of a member that left it is said: %v", logged)
				}
			})
		})
	}
}

// lateAnswer is one that comes although nobody waits.
func lateAnswer(m *fakeMember) memberstest.Handler {
	return func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return m.answer(r), nil
	}
}

func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		west.values = memberstest.Hang
		f := startFleet(t, east, west)
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Custom(t.Context(), podsRPS)
		}()
		synctest.Wait()
		start := time.Now()
		f.stop()
		<-done
		if took := time.Since(start); took != 0 {
			t.Errorf("the end took %v, want no time though a request is under way", took)
		}
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "")
	})
}

// TestNothingStartsAfterTheEnd: Run could return before it has ended.
func TestNothingStartsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFleet(t, newFakeMember("east"))
		l := f.custom.lines["east"]
		f.stop()
		l.mu.Lock()
		started := l.start(func() { t.Error("it ran") })
		l.mu.Unlock()
		synctest.Wait()
		if started {
			t.Error("start says that it did")
		}
	})
}

func TestAskedWhileEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		ctx, cancel := context.WithCancel(t.Context())
		var askers sync.WaitGroup
		for range 4 {
			askers.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					q := podsRPS
					q.Subject.namespace = string(rune('a' + i%20))
					f.Custom(ctx, q)
				}
			})
		}
		f.stop()
		cancel()
		askers.Wait()
	})
}

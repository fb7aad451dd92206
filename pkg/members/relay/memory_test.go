// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// A step of a story: something changes after a while, and a question is put.
type step struct {
	wait   time.Duration
	change func(*fakeMember)
	other  bool // put another question than the one that the story is about
}

// tell returns the last answer of a story.
func tell(t *testing.T, f *fleetOf, east *fakeMember, steps ...step) (r Result[external_metrics.ExternalMetricValue]) {
	t.Helper()
	for _, s := range steps {
		time.Sleep(s.wait)
		if s.change != nil {
			east.Set(func() { s.change(east) })
		}
		q := queue
		if s.other {
			q.Namespace = "bank"
		}
		r = f.External(t.Context(), q)
	}
	return r
}

func fails(m *fakeMember)      { m.values = saying(500, "broken") }
func failsWhole(m *fakeMember) { m.Handle = saying(500, "broken") }
func heals(m *fakeMember)      { m.Handle, m.values, m.Silent = nil, nil, nil }
func goesAway(m *fakeMember)   { m.Silent, m.since = away, time.Now() }

func healsAndFails(m *fakeMember) {
	heals(m)
	fails(m)
}

func wentAwayLongAgo(m *fakeMember) { m.Silent, m.since = away, time.Now().Add(-time.Hour) }

func hasNoState(m *fakeMember) { m.Silent = away }

func TestSince(t *testing.T) {
	const again = idleAfter / 2
	tests := map[string]struct {
		steps []step
		want  time.Duration // from the start
	}{
		"the first of unbroken failures": {[]step{{10 * time.Second, fails, false}, {time.Minute, nil, false},
			{3 * time.Minute, nil, false}}, 10 * time.Second},
		"not one before an answer": {[]step{{10 * time.Second, fails, false}, {time.Minute, heals, false},
			{time.Minute, fails, false}}, 130 * time.Second},
		"asked for the first time": {[]step{{10 * time.Second, fails, true}, {time.Minute, nil, false}},
			70 * time.Second},
		"when its member went away": {[]step{{10 * time.Second, goesAway, true}, {time.Minute, nil, false}},
			10 * time.Second},
		"no earlier than its last answer": {[]step{{10 * time.Second, nil, false}, {time.Minute, wentAwayLongAgo, false}},
			10 * time.Second},
		"its own failures, where its member went later": {[]step{{10 * time.Second, fails, false}, {20 * time.Second, goesAway, false},
			{time.Minute, nil, false}}, 10 * time.Second},
		"its own failures, before and after": {[]step{{10 * time.Second, fails, false}, {20 * time.Second, goesAway, false},
			{time.Minute, healsAndFails, false}}, 10 * time.Second},
		"not a member that is ready again": {[]step{{10 * time.Second, goesAway, true}, {time.Minute, healsAndFails, false}},
			70 * time.Second},
		"not forgotten while somebody asks": {[]step{{10 * time.Second, fails, false}, {again, nil, false}, {again, nil, false},
			{again, nil, false}}, 10 * time.Second},
		"not forgotten while somebody asks without success": {[]step{{10 * time.Second, fails, false}, {again, goesAway, false},
			{again, nil, false}, {again, nil, false}}, 10 * time.Second},
		"forgotten when nobody asks": {[]step{{10 * time.Second, fails, false}, {idleAfter + 2*keepFor, nil, false}},
			20*time.Second + idleAfter},
		"a member that does not say since when": {[]step{{10 * time.Second, hasNoState, false}}, 10 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				east := newFakeMember("east")
				r := tell(t, startFleet(t, east), east, tc.steps...)
				if got := r.Since["east"].Sub(start); got != tc.want {
					t.Errorf("silent since %v after the start, want %v", got, tc.want)
				}
			})
		})
	}
}

// TestSinceOfAnAPI: an API that is seen to fail in the background is silent to
// questions that were not put then. Discovery comes a tenth of its period early or late.
func TestSinceOfAnAPI(t *testing.T) {
	const late = period / 5 // at the second time
	tests := map[string]struct {
		steps     []step
		from, til time.Duration
	}{
		"first seen to fail": {[]step{{10 * time.Second, failsWhole, true}, {4 * period, nil, false}},
			period - period/10, period + period/10},
		"answered another question since": {[]step{{10 * time.Second, failsWhole, true}, {2*period + late - 5*time.Second, heals, true},
			{keepFor, failsWhole, false}},
			2*period + late + 10*time.Second, 2*period + late + 10*time.Second},
		"was seen to be there since": {[]step{{10 * time.Second, failsWhole, true}, {2 * period, heals, true}, {2 * period, failsWhole, true},
			{3 * period, nil, false}},
			4*period + 10*time.Second, 6 * period},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				east := newFakeMember("east")
				r := tell(t, startFleet(t, east), east, tc.steps...)
				if got := r.Since["east"].Sub(start); got < tc.from || got > tc.til {
					t.Errorf("silent since %v after the start, want between %v and %v", got, tc.from, tc.til)
				}
			})
		})
	}
}

func TestThoseThatAnsweredHaveNoPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		r := startFleet(t, east).External(t.Context(), queue)
		if len(r.Since) > 0 || len(r.Before) > 0 {
			t.Errorf("since %v and before %v, want neither", r.Since, r.Before)
		}
	})
}

func TestBefore(t *testing.T) {
	knowsNothing := func(m *fakeMember) {
		m.values = saying(404, `{"kind":"Status","apiVersion":"v1","reason":"NotFound","code":404}`)
	}
	hasNone := func(m *fakeMember) { m.series = nil }
	hasMore := func(m *fakeMember) {
		m.series = []external_metrics.ExternalMetricValue{oneSeries("a", "1"), oneSeries("b", "2")}
	}
	const again = idleAfter / 2
	tests := map[string]struct {
		steps []step
		want  map[string][]string
	}{
		"what was answered last": {[]step{{0, nil, false}, {time.Minute, hasMore, false}, {time.Minute, fails, false}},
			last(oneSeries("a", "1"), oneSeries("b", "2"))},
		"of a member that is away": {[]step{{0, nil, false}, {time.Minute, goesAway, false}}, last(oneSeries("a", "7"))},
		"after many failures": {[]step{{0, nil, false}, {again, fails, false}, {again, nil, false}, {again, nil, false}},
			last(oneSeries("a", "7"))},
		"after a long absence": {[]step{{0, nil, false}, {again, goesAway, false}, {again, nil, false}, {again, nil, false}},
			last(oneSeries("a", "7"))},
		"a member that never answered": {[]step{{0, fails, false}}, last()},
		"never answered to this":       {[]step{{0, nil, true}, {time.Minute, fails, false}}, last()},
		"no series, which is an answer": {[]step{{0, hasNone, false}, {time.Minute, fails, false}},
			map[string][]string{"east": {}}},
		"ignorance, which is an answer": {[]step{{0, nil, false}, {time.Minute, knowsNothing, false}, {time.Minute, fails, false}},
			map[string][]string{"east": {}}},
		"forgotten when nobody asks":       {[]step{{0, nil, false}, {idleAfter + 2*keepFor, fails, false}}, last()},
		"not forgotten before it is time":  {[]step{{0, nil, false}, {idleAfter, fails, false}}, last(oneSeries("a", "7"))},
		"there again before it is told of": {[]step{{0, fails, false}, {time.Minute, heals, false}}, last()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				r := tell(t, startFleet(t, east), east, tc.steps...)
				fleettest.Same(t, "before", tc.want, texts(r.Before))
			})
		})
	}
}

// last returns what is known of the only member; nothing if it never answered.
func last(series ...external_metrics.ExternalMetricValue) map[string][]string {
	if len(series) == 0 {
		return map[string][]string{}
	}
	return texts(map[string]merge.Seen{"east": merge.SeenIn(series)})
}

func texts(before map[string]merge.Seen) map[string][]string {
	all := map[string][]string{}
	for cluster, seen := range before {
		all[cluster] = []string{}
		for _, series := range seen {
			all[cluster] = append(all[cluster], series.Value())
		}
	}
	return all
}

func TestCustomMetricsHaveNoBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		f.Custom(t.Context(), podsRPS)
		east.Set(func() { goesAway(east) })
		if before := f.Custom(t.Context(), podsRPS).Before; len(before) > 0 {
			t.Errorf("before %v, want nothing: it would be kept for nobody", before)
		}
	})
}

// held counts what a line holds in memory.
func held[T any](l *line[T]) (questions, outcomes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.questions {
		if q.last != nil {
			outcomes++
		}
	}
	return len(l.questions), outcomes
}

func TestValuesAreDroppedOnceTheyServeNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		manyQuestions(t, f, 20, "answered=east")
		time.Sleep(2*keepFor + 1)
		synctest.Wait()
		if questions, outcomes := held(f.custom.lines["east"]); questions != 20 || outcomes != 0 {
			t.Errorf("%d questions are known and %d outcomes are held, want 20 and none", questions, outcomes)
		}
		time.Sleep(idleAfter)
		synctest.Wait()
		if questions, _ := held(f.custom.lines["east"]); questions != 0 {
			t.Errorf("%d questions are known that nobody asks, want none", questions)
		}
	})
}

// roomFor is a memory for about so many answers of one value.
func roomFor(t *testing.T, questions int64) *memory.Memory {
	t.Helper()
	series := oneSeries("a", "1")
	return memory.New(questions*(questionBytes+externalSize(&series)), memory.NewMetrics(prometheus.NewRegistry()))
}

func TestWhatIsKnownIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		const most = 1000
		kept := roomFor(t, most)
		f := newFleetWith(func(o *Options) { o.KeepFor, o.Memory = time.Hour, kept }, east).start(t)
		important := ExternalQuestion{Namespace: "important", Metric: "queue", Clusters: everywhere}
		for i := range most + 200 {
			q := queue
			q.Namespace = fmt.Sprintf("shop-%04d", i) // as heavy as the important one
			f.External(t.Context(), q)
			time.Sleep(notedFor / 50)
			if i%100 == 0 {
				f.External(t.Context(), important)
			}
		}
		synctest.Wait()
		if questions, _ := held(f.external.lines["east"]); questions < most*9/10 || questions > most {
			t.Errorf("%d questions are known, want about %d", questions, most)
		}
		east.take()
		f.External(t.Context(), important)
		if asked := east.take(); asked != nil {
			t.Errorf("what is asked for all the time was forgotten: asked %v again", asked)
		}
	})
}

func TestWhatIsUnderWayIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		const most = 1000
		kept := memory.New(most*questionBytes, memory.NewMetrics(prometheus.NewRegistry()))
		f := newFleetWith(func(o *Options) { o.Memory = kept }, east).start(t)
		release := make(chan struct{})
		east.Set(func() {
			east.values = func(r *http.Request) (*http.Response, error) {
				<-release
				return east.answer(r), nil
			}
		})
		var askers sync.WaitGroup
		const n = most + 50
		for range 2 {
			askers.Go(func() { manyQuestions(t, f, n, "answered=east") })
			synctest.Wait()
		}
		close(release)
		askers.Wait()
		fleettest.Same(t, "times asked", n, east.askedFor("rps"))
		manyQuestions(t, f, n+10, "answered=east")
		synctest.Wait()
		if questions, _ := held(f.custom.lines["east"]); questions > most {
			t.Errorf("%d questions are known, want no more than %d", questions, most)
		}
	})
}

// TestSlowRequestIsNotRepeated: outcomes are kept for less time than a member may take.
func TestSlowRequestIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.values = lateBy(3*time.Second, east)
		f := newFleetWith(func(o *Options) { o.KeepFor = 700 * time.Millisecond }, east).start(t)
		go f.Custom(t.Context(), podsRPS)
		time.Sleep(2500 * time.Millisecond)
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=east")
		fleettest.Same(t, "times asked: the first request was under way", 1, east.askedFor("rps"))
	})
}

func TestAskingManyMembersWaitsForTheSlowestOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var members []Source
		for i := range 30 {
			m := newFakeMember(fmt.Sprintf("member-%d", i))
			m.values = lateBy(time.Second, m)
			members = append(members, m)
		}
		f := startFleet(t, members...)
		start := time.Now()
		if n := len(f.Custom(t.Context(), podsRPS).Values); n != 30 || time.Since(start) != time.Second {
			t.Errorf("%d of 30 answered after %v, want all after a second", n, time.Since(start))
		}
	})
}

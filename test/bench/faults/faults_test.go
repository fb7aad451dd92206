// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

var start = time.Unix(1_800_000_000, 0)

func at(d time.Duration) time.Time { return start.Add(d) }

func answered(client string, begin, end time.Duration, v truth.Verdict) entry {
	return entry{client: client, kind: lists, begin: at(begin), end: at(end), Judgement: truth.Judgement{Verdict: v}}
}

func TestRecoveryIsTheLastAnswerThatWasNotRight(t *testing.T) {
	const calm = time.Second
	right := func(client string, begin time.Duration) entry {
		return answered(client, begin, begin+time.Millisecond, truth.Right)
	}
	for name, tc := range map[string]struct {
		entries entries
		last    time.Duration
		ok      bool
	}{
		"nothing was wrong":  {entries{right("a", 1), right("b", 1)}, 0, true},
		"b has not answered": {entries{right("a", 1)}, 0, false},
		"b was wrong for 2 s": {entries{right("a", 1), right("b", 1), answered("b", 1, 2*time.Second, truth.Refused),
			right("a", 2100*time.Millisecond), right("b", 2100*time.Millisecond)}, 2 * time.Second, true},
		"a has not answered since": {entries{right("a", 1), answered("b", 1, 2*time.Second, truth.Partial),
			right("b", 2100*time.Millisecond)}, 2 * time.Second, false},
		"it was asked before the end": {entries{answered("a", -1, time.Second, truth.Unanswered), right("a", 1), right("b", 1)}, 0, true},
		"it was wrong just a while ago": {entries{right("a", 1), right("b", 1), answered("b", 1, 3500*time.Millisecond, truth.Silent),
			right("a", 3600*time.Millisecond), right("b", 3600*time.Millisecond)}, 3500 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			last, ok := tc.entries.recovered([]string{"a", "b"}, at(0), at(4*time.Second), calm)
			if !last.Equal(at(tc.last)) || ok != tc.ok {
				t.Errorf("%v, %t; want %v, %t", last.Sub(start), ok, tc.last, tc.ok)
			}
		})
	}
}

func TestAnswersAreCounted(t *testing.T) {
	j := newJournal(io.Discard)
	for i, v := range truth.Verdicts() {
		j.add(answered("a", 0, time.Duration(i)*time.Second, v))
	}
	all := j.between(at(0), at(time.Hour))
	if all.wrong() != 3 || all.of(truth.Silent) != 1 || all.bad() != 4 {
		t.Errorf("%d wrong, %d silent partial, %d bad", all.wrong(), all.of(truth.Silent), all.bad())
	}
	if diff := cmp.Diff(measure.Samples{0, 1000}, all.latencies()); diff != "" {
		t.Errorf("latencies of what was served: %s", diff)
	}
	if some := j.between(at(time.Second), at(3*time.Second)); len(some) != 2 {
		t.Errorf("%d answers ended within two seconds", len(some))
	}
}

func TestWritesThatLeaveTooLittleAreWrong(t *testing.T) {
	web := func(from, to int) sim.ScaleWrite { return sim.ScaleWrite{Name: "web", From: from, To: to} }
	for name, tc := range map[string]struct {
		writes []sim.ScaleWrite
		want   int
	}{
		"none":                           {nil, 0},
		"out":                            {[]sim.ScaleWrite{web(2, 3)}, 0},
		"in":                             {[]sim.ScaleWrite{web(2, 1)}, 1},
		"out, and back":                  {[]sim.ScaleWrite{web(2, 4), web(2, 1), web(4, 3)}, 0},
		"out, and farther in":            {[]sim.ScaleWrite{web(2, 3), web(3, 2), web(2, 1)}, 1},
		"in, and out, not as far":        {[]sim.ScaleWrite{web(2, 0), web(0, 1)}, 1},
		"in, and out again":              {[]sim.ScaleWrite{web(2, 1), web(1, 2)}, 1},
		"of a workload that is not ours": {[]sim.ScaleWrite{{Name: "other", From: 2, To: 1}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(tooLow(map[string]int{"web": 4}, tc.writes)); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}

// teller answers with two Pods of two members.
type teller struct{}

func (teller) RoundTrip(*http.Request) (*http.Response, error) {
	const pod = `{"metadata":{"name":"web-0","labels":{"fleetscale.io/cluster":"CLUSTER"}},"containers":[{"name":"app","usage":{"cpu":"1","memory":"1Ki"}}]}`
	body := `{"items":[` + string(bytes.ReplaceAll([]byte(pod), []byte("CLUSTER"), []byte("east"))) + `,` +
		string(bytes.ReplaceAll([]byte(pod), []byte("CLUSTER"), []byte("west"))) + `]}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{fleet.CoverageHeader: {"answered=east,west"}},
		Body: io.NopCloser(bytes.NewReader([]byte(body)))}, nil
}

func TestEachLieIsToldInItsTurn(t *testing.T) {
	l := &liar{honest: teller{}, every: 3, told: make([]int, len(lies()))}
	same := 0
	for range 3*rounds*len(lies()) + 10 {
		honest, _ := teller{}.RoundTrip(nil)
		want, _ := io.ReadAll(honest.Body)
		resp, err := l.RoundTrip(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		if bytes.Equal(got, want) && cmp.Equal(resp.Header, honest.Header) {
			same++
		}
	}
	if diff := cmp.Diff([]int{rounds, rounds, rounds, rounds}, l.told); diff != "" {
		t.Errorf("told: %s", diff)
	}
	if want := 2*rounds*len(lies()) + 10; same != want {
		t.Errorf("%d answers were left as they are, want %d", same, want)
	}
	right := map[truth.Verdict]int{truth.Silent: 2 * rounds, truth.WrongValue: rounds, truth.WrongPod: rounds, truth.Right: 100}
	if err := l.caught(right); err != nil {
		t.Error(err)
	}
	for _, v := range []truth.Verdict{truth.Silent, truth.WrongValue, truth.WrongPod} {
		right[v]--
		if err := l.caught(right); err == nil {
			t.Errorf("a lie was not found to be %s, and nobody minds", v)
		}
		right[v]++
	}
}

func TestGrowthIsOfTheLastQuarter(t *testing.T) {
	heap := sampledFigures()[1]
	of := func(restart int, values ...float64) *watched {
		w := &watched{}
		for i, v := range values {
			s := sample{at: time.Duration(i) * time.Second, pid: 1, heap: v * mib}
			if i >= restart {
				s.pid = 2
			}
			w.samples = append(w.samples, s)
		}
		return w
	}
	const never = 100
	for name, tc := range map[string]struct {
		w    *watched
		want float64
	}{
		"the same":                       {of(never, 1, 5, 5, 5, 5, 5, 5, 5), 1},
		"twice as much":                  {of(never, 1, 1, 4, 4, 6, 7, 8, 8), 2},
		"not measured each time":         {of(never, 1, 1, 4, math.NaN(), 6, 7, math.NaN(), 8), 2},
		"started again in the beginning": {of(2, 9, 9, 4, 4, 4, 4, 4, 4), 1},
		"started again at the end":       {of(7, 1, 1, 4, 4, 4, 4, 4, 4), 0},
		"never measured at the end":      {of(never, 1, 1, 4, 4, 4, 4), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, got := tc.w.growth(heap, 8*time.Second); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestFaultsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults() {
		if seen[f.name] || f.begin == nil {
			t.Errorf("%q is there twice, or is none", f.name)
		}
		seen[f.name] = true
	}
	if len(faults())*2+2 > coldNamespaces {
		t.Errorf("%d namespaces are too few for first questions", coldNamespaces)
	}
}

func TestMissesAreSaid(t *testing.T) {
	calm := phase{fault: "none", recovered: true, before: entries{answered("a", 0, time.Second, truth.Right)},
		during: entries{answered("a", 0, time.Second, truth.Right)}}
	unmet := func(o outcome) (what []string) {
		for _, r := range o.reaches() {
			if !r.Met {
				what = append(what, r.What)
			}
		}
		return what
	}
	good := outcome{plan: quick(), phases: []phase{calm}, lowered: quick().Scalers, entries: calm.before}
	if missed := unmet(good); len(missed) > 0 {
		t.Errorf("missed: %v", missed)
	}
	bad := good
	slow := calm
	slow.recovered, slow.during = false, entries{answered("a", 0, time.Hour, truth.Right)}
	bad.phases, bad.wrong, bad.lowered, bad.takeover = []phase{slow}, 1, 0, time.Hour
	bad.entries = entries{answered("a", 0, 0, truth.Silent), answered("a", 0, 0, truth.WrongPod)}
	if missed := unmet(bad); len(missed) != len(bad.reaches()) {
		t.Errorf("only missed: %v", missed)
	}
	if rows := bad.section().Tables[0].Rows; len(rows) != 1 || len(rows[0]) != len(phaseHeader()) {
		t.Errorf("rows: %v", rows)
	}
}

func TestASoakTellsTheSeedAndWhatGrew(t *testing.T) {
	calm, grew := &watched{name: "calm"}, &watched{name: "grew"}
	const samples = 40
	for i := range samples {
		s := sample{at: time.Duration(i) * time.Minute, pid: 1, goroutines: 100, heap: mib, resident: mib, files: 10, sockets: 10}
		calm.samples = append(calm.samples, s)
		s.goroutines += float64(10 * i)
		grew.samples = append(grew.samples, s)
	}
	o := &soaked{plan: fullSoak(), seed: 42, watched: []*watched{calm, grew}, recovered: true,
		happens: []happening{{fault: "a"}, {fault: "b"}, {fault: "a"}}}
	o.plan.For = samples * time.Minute
	section := o.section()
	var missed []string
	for _, r := range section.Reaches {
		if !r.Met {
			missed = append(missed, r.What+": "+r.Measured)
		}
	}
	if diff := cmp.Diff([]string{"growth: goroutines: 1.82 (grew; 2 of 2 processes lived so long)"}, missed); diff != "" {
		t.Error(diff)
	}
	text := strings.Join(section.Text, " ")
	for _, want := range []string{"seed 42", "3 faults happened: a (2); b (1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

func TestListsAreOfEveryKindInTurn(t *testing.T) {
	s := &scene{}
	paths, inJSON := map[string]bool{}, map[string]bool{}
	for n := range 4 * 2 * namespaces {
		q := s.list(n)
		paths[q.path] = true
		if q.accept == stage.JSON {
			inJSON[q.path] = true
		}
	}
	if len(paths) != 2*namespaces || len(inJSON) != len(paths) {
		t.Errorf("lists of %d kinds, %d of them in JSON; want %d", len(paths), len(inJSON), 2*namespaces)
	}
}

func TestClientsAskUntilTheyAreStopped(t *testing.T) {
	j := newJournal(io.Discard)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	judged := question{path: "/", judge: func(a truth.Answer) truth.Judgement {
		if a.Code != http.StatusOK || len(a.Body) == 0 || a.End.Before(a.Begin) {
			t.Errorf("%+v", a)
		}
		if len(j.between(time.Time{}, time.Now())) > 5 {
			stop()
		}
		return truth.Judgement{Verdict: truth.Right}
	}}
	ask := client{name: "a", kind: lists, url: "http://example.com", transport: teller{}, question: func(int) question { return judged }}
	idle := ask
	idle.name, idle.may = "idle", func() bool { return false }
	askAll(ctx, []client{ask, idle}, time.Millisecond, j)
	for _, e := range j.between(time.Time{}, time.Now()) {
		if e.client != "a" || e.Verdict != truth.Right {
			t.Errorf("%+v", e)
		}
	}
	if n := len(j.entries); n < 6 {
		t.Errorf("%d answers", n)
	}
}

func TestAdaptersAreKilledEarlyInASoak(t *testing.T) {
	p, random := fullSoak(), rand.New(rand.NewPCG(1, 2))
	killed := func(at time.Duration) (n int) {
		for range 1000 {
			if p.next(at, random).kills {
				n++
			}
		}
		return n
	}
	if early, late := killed(0), killed(p.For/4-p.Longest+1); early < 40 || late > 0 {
		t.Errorf("killed %d times of 1000 early, and %d times of 1000 where it may last into the second quarter", early, late)
	}
}

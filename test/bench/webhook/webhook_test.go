// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/google/go-cmp/cmp"
)

func TestOneInTenIsFaulty(t *testing.T) {
	faulty := map[string]int{}
	for n := range period {
		if w := writes(n); w.faulty {
			faulty[w.String()]++
		}
		if w := creations(n); w.faulty || w.update {
			t.Errorf("creation %d is %s", n, w)
		}
		if string(writes(n).object("shop", stored, "")) == string((write{number: unlike, resource: writes(n).resource,
			update: writes(n).update}).object("shop", stored, "")) {
			t.Errorf("write %d changes nothing of what is stored", n)
		}
	}
	want := map[string]int{"faulty POST federatedhpas": 1, "faulty PUT federatedhpas": 1, "faulty POST cronfederatedhpas": 1,
		"faulty PUT cronfederatedhpas": 1}
	fleettest.Same(t, "", want, faulty)
}

func TestAnswersOfTheHubAreJudged(t *testing.T) {
	valid, faulty := write{resource: federated}, write{resource: cron, update: true, faulty: true}
	const refusal = `{"message":"admission webhook \"cronfederatedhpa.fleetscale.io\" denied the request: x","details":{"causes":[{"field":"spec.rules[0].schedule"}]}}`
	for name, tc := range map[string]struct {
		write
		code  int
		body  string
		wrong string
	}{
		"completed":           {valid, 201, `{"minReplicas":1}`, ""},
		"not completed":       {valid, 201, `{}`, `valid POST federatedhpas: the answer lacks "minReplicas":1: {}`},
		"refused but valid":   {valid, 422, `no`, `valid POST federatedhpas: 422, want 201: no`},
		"refused":             {faulty, 422, refusal, ""},
		"admitted but faulty": {faulty, 200, `{"suspend":false}`, `faulty PUT cronfederatedhpas: 200, want 422: {"suspend":false}`},
		"refused by somebody": {faulty, 422, `{"message":"too long"}`,
			`faulty PUT cronfederatedhpas: the answer lacks cronfederatedhpa.fleetscale.io\" denied the request: {"message":"too long"}`},
		"refused for no reason":   {faulty, 422, strings.Replace(refusal, "schedule", "name", 1), "lacks"},
		"webhook can't be called": {faulty, 500, "failed", "faulty PUT cronfederatedhpas: 500, want 422: failed"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.judged(tc.code, []byte(tc.body))
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%v, want %q", err, tc.wrong)
			}
		})
	}
}

// What is asked of webhooks is answered by the empty one, and not rightly where ours has to do something.
func TestReviews(t *testing.T) {
	all, err := reviews()
	if err != nil {
		t.Fatal(err)
	}
	wrong, idle := 0, &empty{}
	for _, r := range all {
		code, body := post(idle, r)
		if err := r.allowed(code, body); err != nil {
			t.Error(err)
		}
		if uid := string(r.asked().Request.UID); !strings.Contains(string(body), uid) || (r.asked().Request.OldObject.Raw != nil) != r.update {
			t.Errorf("%s: %s answers %s", r, body, uid)
		}
		if r.judged(code, body) != nil {
			wrong++
		}
	}
	if want := period/10 + period/2; wrong != want {
		t.Errorf("%d answers of the empty webhook are wrong, want %d", wrong, want)
	}
	if code, _ := post(idle, review{path: "/", body: []byte("hello")}); code != http.StatusBadRequest {
		t.Errorf("nonsense: %d", code)
	}
	counted := httptest.NewRecorder()
	idle.ServeHTTP(counted, httptest.NewRequest(http.MethodGet, "/", nil))
	if got, want := counted.Body.String(), fmt.Sprint(len(all)+1); got != want {
		t.Errorf("it was asked %s times, and counts %s", want, got)
	}
}

func TestAnswersOfWebhooksAreJudged(t *testing.T) {
	valid, faulty := write{resource: federated}, write{resource: cron, faulty: true}
	for name, tc := range map[string]struct {
		review
		body  string
		right bool
	}{
		"completed":           {review{write: valid}, `{"allowed":true,"patch":"W10="}`, true},
		"not completed":       {review{write: valid}, `{"allowed":true}`, false},
		"admitted":            {review{write: valid, validate: true}, `{"allowed":true}`, true},
		"refused but valid":   {review{write: valid, validate: true}, `{"allowed":false}`, false},
		"refused":             {review{write: faulty, validate: true}, `{"allowed":false,"field":"spec.rules[0].schedule"}`, true},
		"refused for nothing": {review{write: faulty, validate: true}, `{"allowed":false}`, false},
		"admitted but faulty": {review{write: faulty, validate: true}, `{"allowed":true}`, false},
		"faulty, not judged":  {review{write: faulty}, `{"allowed":true}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.judged(http.StatusOK, []byte(tc.body)); (err == nil) != tc.right {
				t.Error(err)
			}
		})
	}
}

func post(h http.Handler, r review) (code int, body []byte) {
	request := httptest.NewRequest(http.MethodPost, r.path, strings.NewReader(string(r.body)))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.Bytes()
}

func TestEmptyWebhookNeedsItsFiles(t *testing.T) {
	for _, args := range [][]string{nil, {"1", "x"}, {"0", "/none.crt", "/none.key"}} {
		if err := ServeEmpty(args); err == nil {
			t.Errorf("%v: it served", args)
		}
	}
}

// example is an experiment in which our webhook takes so many times what the empty one does.
func example(times float64) *bench {
	b := &bench{plan: plan{Rounds: 2, Clients: []int{1, 8}}, log: io.Discard, cells: map[cell]*figures{},
		resident: map[string]float64{ours: 40, emptyOne: 10}, stored: 12}
	for _, n := range b.Clients {
		for _, what := range []string{dryRun, creation, direct} {
			for name, by := range map[string]float64{schemaOnly: 0.5, emptyOne: 1, ours: times} {
				two := func(ms float64) measure.Samples { return measure.Samples{ms * by, 3 * ms * by} }
				b.cells[cell{what, name, n}] = &figures{p50: two(2), p99: two(4), perSecond: two(500), hubCPU: two(3), webhookCPU: two(1)}
			}
		}
	}
	return b
}

func TestSection(t *testing.T) {
	s := example(1.5).section()
	want := []string{"1", "webhook", "1500 (750–2250)", "6 (3–9)", "12 (6–18)", "1.5 (1.5–1.5)", "1.5 (1.5–1.5)", "2 (1–3)", "4 (2–6)",
		"9 (4.5–13.5)", "3 (1.5–4.5)"}
	fleettest.Same(t, "", want, s.Tables[0].Rows[2])
	for i, rows := range []int{6, 3, 4} {
		if len(s.Tables[i].Rows) != rows || len(s.Tables[i].Rows[0]) != len(s.Tables[i].Header) {
			t.Errorf("%s: %v", s.Tables[i].Title, s.Tables[i].Rows)
		}
	}
	if got := s.Figures["dry-run/empty webhook/clients=8/webhook_cpu_ms"]; !cmp.Equal(got, []float64{1, 3}) {
		t.Errorf("the figures hold %v", got)
	}
	if err := s.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestReachesAreMeasured(t *testing.T) {
	for name, tc := range map[string]struct {
		times float64
		wrong int
		met   []bool
	}{
		"reached":         {1.2, 0, []bool{true, true}},
		"slow":            {1.3, 0, []bool{true, false}},
		"one wrong":       {1.2, 1, []bool{false, true}},
		"slow, and wrong": {2, 3, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			b := example(tc.times)
			b.wrong = tc.wrong
			var met []bool
			for _, r := range b.reaches() {
				met = append(met, r.Met)
			}
			fleettest.Same(t, "", tc.met, met)
		})
	}
}

// Wrong answers are counted wherever they come from, and cost nothing.
func TestWrongAnswersAreCounted(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	b := &bench{hub: &stage.Server{URL: server.URL, Client: http.DefaultTransport, PID: measure.Process(os.Getpid())},
		cells: map[cell]*figures{}}
	s := &side{name: schemaOnly, judge: func(w write, code int, body []byte) error {
		return write{resource: w.resource}.admitted(code, body)
	}}
	c := cell{creation, schemaOnly, 4}
	if err := b.keep(t.Context(), c, s, b.hub.Client, b.creations(s)); err != nil {
		t.Fatal(err)
	}
	if b.wrong != 2 || b.stored != 2 || !strings.Contains(b.complaint, "418, want 201") || len(b.cells[c].p50) != 1 {
		t.Errorf("%d wrong, %d stored, complaint %q", b.wrong, b.stored, b.complaint)
	}
}

func TestSidesBeginInTurns(t *testing.T) {
	sides := []*side{{name: "a"}, {name: "b"}, {name: "c"}}
	order := ""
	for round := range 4 {
		for _, s := range inTurns(sides, round) {
			order += s.name
		}
	}
	if want := "abcbcacababc"; order != want {
		t.Errorf("%s, want %s", order, want)
	}
}

func TestPlans(t *testing.T) {
	quick, full := quick(), full()
	if quick.Rounds < 3 || quick.Clients[0] != 1 || full.Clients[0] != 1 || quick.For >= full.For {
		t.Errorf("%+v, %+v", quick, full)
	}
}

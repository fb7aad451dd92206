// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

var bomb = fleet.Silence{Reason: fleet.ReasonTooLarge, Detail: "a bomb"}

func TestQuarantinesGrowAndAreForgotten(t *testing.T) {
	var q quarantine
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var lengths []time.Duration
	for range 7 { // and again as soon as it is asked
		q = q.enter(bomb, now)
		if got := q.remaining(now); got != q.length || !q.active() {
			t.Errorf("remaining %v of %v, active %v", got, q.length, q.active())
		}
		lengths = append(lengths, q.length)
		now = now.Add(q.length)
		if got := q.remaining(now); got != 0 || !q.active() {
			t.Errorf("at its end: remaining %v, active %v; want that it waits for a probe", got, q.active())
		}
		q = q.leave(now)
		now = now.Add(longestQuarantine - 1)
	}
	const minute = time.Minute
	fleettest.Same(t, "lengths", []time.Duration{minute, 2 * minute, 4 * minute, 8 * minute, 16 * minute, 30 * minute, 30 * minute}, lengths)
	if q.active() || q.remaining(now) != 0 {
		t.Errorf("after it has left: active %v, remaining %v", q.active(), q.remaining(now))
	}
	q = q.enter(bomb, now.Add(1))
	if q.length != firstQuarantine {
		t.Errorf("after it was well for as long as the longest: %v, want %v", q.length, firstQuarantine)
	}
	want := "Quarantined: it sent too much that could harm us, last TooLarge: a bomb; it is asked again at " + q.until.Format(time.RFC3339)
	if got := q.silence.Error(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// A member that misbehaves when it is probed stays in quarantine, for longer each time.
func TestQuarantinesGoOn(t *testing.T) {
	var q quarantine
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		q = q.enter(bomb, now)
		if got := q.remaining(now); got != want || !q.active() {
			t.Errorf("remaining %v, want %v; active %v", got, want, q.active())
		}
		now = now.Add(want)
	}
}

// However a member misbehaves: it is never confined for longer than the longest, nor for less than the first.
func TestQuarantineProperties(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r, q := rand.New(rand.NewPCG(seed, 3)), quarantine{}
		now, before := time.Unix(1_700_000_000, 0), time.Duration(0)
		for range 50 {
			now = now.Add(time.Duration(r.Int64N(int64(2 * longestQuarantine))))
			q = q.enter(bomb, now)
			left := q.remaining(now)
			if left < firstQuarantine || left > longestQuarantine || left > max(2*before, firstQuarantine) {
				t.Fatalf("seed %d: %v after %v", seed, left, before)
			}
			before = left
			now = now.Add(left + time.Duration(r.Int64N(int64(time.Minute))))
			q = q.leave(now)
		}
	}
}

// over ends the time of a member's quarantine, so that it is probed.
func (r *running) over(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.member.name == name {
			e.quarantine.until = time.Now()
			poke(e.wake)
		}
	}
}

func flood(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, endless{}, 4<<20) }

type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestMemberThatMisbehavesIsQuarantined(t *testing.T) {
	t.Parallel()
	hub, evil, good := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	evil.handle = flood
	hub.Put(t, evil.secret(t, "evil"))
	hub.Put(t, good.secret(t, "good"))
	events, reg := record.NewFakeRecorder(100), prometheus.NewRegistry()
	r := start(t, hub, func(o *Options) {
		o.Recorder, o.Metrics, o.Connections.MaxAnswer = events, NewMetrics(reg), 1<<20
	})
	r.becomes("evil=Ready good=Ready")
	m := r.member("evil")
	for range 9 {
		if _, err := ask(t.Context(), m); reasonOf(err) != fleet.ReasonTooLarge {
			t.Fatalf("error %v, want TooLarge", err)
		}
	}
	r.probedAgain(evil)
	r.becomes("evil=Ready good=Ready") // that may be chance
	_, _ = ask(t.Context(), m)
	r.becomes("evil=Quarantined good=Ready")
	if state := m.State(); state.Ready || !strings.Contains(state.Message, "last TooLarge: the answer is larger than 1Mi") {
		t.Errorf("state %+v", state)
	}
	if got := series(t, reg); !strings.Contains(got, "cluster_offences_total cluster=evil offence=TooLarge") ||
		!strings.Contains(got, "cluster_registration_info cluster=evil reason=Quarantined registration=secret.evil 1") {
		t.Errorf("metrics:\n%s", got)
	}
	if event := <-events.Events; !strings.Contains(event, "Warning Quarantined it sent too much that could harm us, last TooLarge") {
		t.Errorf("event %q", event)
	}
	if _, err := ask(t.Context(), m); reasonOf(err) != reasonQuarantined {
		t.Errorf("asking it: %v, want Quarantined", err)
	}
	requests := evil.requests.Load()
	r.probedAgain(good)
	if got := evil.requests.Load(); got != requests {
		t.Errorf("%d requests went to it meanwhile, probes included", got-requests)
	}
	r.asks("good", "2")

	evil.set(func() { evil.code = http.StatusServiceUnavailable })
	r.over("evil")
	memberstest.Eventually(t, "probed", func() string {
		if evil.requests.Load() > requests+1 {
			return "probed"
		}
		return ""
	})
	r.becomes("evil=Quarantined good=Ready")
	if _, err := ask(t.Context(), m); reasonOf(err) != reasonQuarantined {
		t.Errorf("asking it after a probe failed: %v, want Quarantined", err)
	}
	r.mu.Lock()
	for _, e := range r.entries {
		if e.member.name == "evil" {
			e.misbehaved(&bomb) // as the probe has found
		}
	}
	r.mu.Unlock()
	memberstest.Eventually(t, "confined again", func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.entries {
			if e.member.name == "evil" && e.quarantine.length == 2*firstQuarantine && e.quarantine.remaining(time.Now()) > firstQuarantine {
				return "confined again"
			}
		}
		return ""
	})
	r.over("evil")
	evil.set(func() { evil.code, evil.handle = 0, nil })
	r.becomes("evil=Ready good=Ready")
	r.asks("evil", "1")
}

// What others are reading of it ends too.
func TestQuarantineEndsStreams(t *testing.T) {
	t.Parallel()
	_, east, r := joined(t, impatiently)
	began, ended := reading(t, r.member("east"))
	<-began
	for range 10 {
		_ = r.member("east").Reading().Endless(&bomb)
	}
	r.becomes("east=Quarantined")
	if err := <-ended; !isReplaced(err) {
		t.Errorf("the stream ended with %v, want that the connection was replaced", err)
	}
	memberstest.Eventually(t, "0 open", func() string { return openStreams(east) })
}

// Whoever changes the registration may have repaired it.
func TestQuarantineEndsWithAChange(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t)
	for range 10 {
		_ = r.member("east").Reading().Endless(&bomb)
	}
	r.becomes("east=Quarantined")
	east.set(func() { east.token = "an0ther" })
	hub.Put(t, east.secret(t, "east"))
	r.becomes("east=Ready")
	r.asks("east", "1")
}

// Timeouts, refusals and servers that fail are ordinary.
func TestOrdinaryFaultsAreNoMisconduct(t *testing.T) {
	t.Parallel()
	_, east, r := joined(t)
	for i, code := range []int{401, 403, 429, 500, 503} {
		east.set(func() { east.handle = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) } })
		for range 10 {
			if _, err := ask(t.Context(), r.member("east")); err == nil {
				t.Fatal("it answered")
			}
		}
		r.probedAgain(east)
		if got, want := r.summary(), "east=Ready"; got != want {
			t.Fatalf("%s after %d, which is number %d", got, code, i)
		}
	}
	east.set(func() { east.handle = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") } })
	for range 20 {
		err := r.member("east").Client().Get().AbsPath("/api/v1/namespaces/shop").Do(t.Context()).Error()
		_, err2 := r.member("east").Client().Get().AbsPath("/api/v1/namespaces/shop").Do(t.Context()).Get()
		if err == nil && err2 == nil {
			t.Fatal("that can be read")
		}
	}
	r.probedAgain(east)
	if got, want := r.summary(), "east=Ready"; got != want {
		t.Errorf("%s after answers that are no objects", got)
	}
}

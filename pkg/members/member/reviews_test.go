// SPDX-License-Identifier: Apache-2.0

package member

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// needs are three rights.
func needs() []grants.Right {
	return []grants.Right{
		{Verb: "list", Resource: "pods", Group: "metrics.k8s.io"},
		{Verb: "update", Resource: "*/scale", Group: "*"},
		{Verb: "get", Resource: "namespaces", Name: "kube-system", Namespace: "kube-system"},
	}
}

// reviewer answers reviews.
type reviewer struct {
	mu    sync.Mutex
	asked []string // the rights, in order
	// deny is true of rights that are denied, and answer is in the place of a review, unless it is nil.
	deny   func(*authorizationv1.ResourceAttributes) bool
	answer http.HandlerFunc
}

func (v *reviewer) serve(w http.ResponseWriter, r *http.Request) {
	var review authorizationv1.SelfSubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.Method != http.MethodPost || r.URL.Path != reviewsPath ||
		review.Spec.ResourceAttributes == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	a := review.Spec.ResourceAttributes
	v.mu.Lock()
	v.asked = append(v.asked, strings.Join([]string{a.Verb, a.Group, a.Resource, a.Subresource, a.Name, a.Namespace}, ","))
	deny, answer := v.deny, v.answer
	v.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	review.Status.Allowed = deny == nil || !deny(a)
	w.WriteHeader(http.StatusCreated)
	memberstest.Answer(w, review)
}

func (v *reviewer) set(deny func(*authorizationv1.ResourceAttributes) bool, answer http.HandlerFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.deny, v.answer = deny, answer
}

// take are the rights that it was asked for since, sorted.
func (v *reviewer) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	asked := slices.Sorted(slices.Values(v.asked))
	v.asked = nil
	return asked
}

func denied(v *running) string {
	traits := v.member("east").Traits()
	return fmt.Sprint(traits.AskedRights, " ", strings.Join(traits.MissingRights, "; "))
}

func saying(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func TestMissingRights(t *testing.T) {
	t.Parallel()
	all := func(*authorizationv1.ResourceAttributes) bool { return true }
	tests := map[string]struct {
		deny   func(*authorizationv1.ResourceAttributes) bool
		answer http.HandlerFunc
		want   string
	}{
		"all are granted": {nil, nil, ""},
		"one is denied":   {func(a *authorizationv1.ResourceAttributes) bool { return a.Subresource == "scale" }, nil, "update */scale.*"},
		"all are denied":  {all, nil, "list pods.metrics.k8s.io; update */scale.*; get namespaces kube-system in kube-system"},
		// What is no answer to the question denies nothing.
		"a cluster without reviews": {nil, saying(http.StatusNotFound, `{}`), ""},
		"who may not ask":           {nil, saying(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1"}`), ""},
		"who is busy": {nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}, ""},
		"no JSON":         {nil, saying(http.StatusOK, "<html>"), ""},
		"an empty object": {nil, saying(http.StatusCreated, "{}"), ""},
		"another kind":    {nil, saying(http.StatusOK, `{"kind":"Pod","apiVersion":"v1"}`), ""},
		"a quantity of another kind": {nil, saying(http.StatusOK,
			`{"kind":"ResourceQuota","apiVersion":"v1","spec":{"hard":{"cpu":"1e-2147483648"}}}`), ""},
		"another question": {nil, saying(http.StatusOK, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",
			"spec":{"resourceAttributes":{"verb":"list","resource":"secrets"}},"status":{"allowed":false}}`), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &reviewer{deny: tc.deny, answer: tc.answer}
			hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
			east.handle = v.serve
			hub.Put(t, east.secret(t, "east"))
			r := start(t, hub, func(o *Options) { o.Needs = needs() })
			r.becomes("east=Ready")
			memberstest.Eventually(t, "true "+tc.want, func() string { return denied(r) })
			if said := strings.Contains(r.log(), "Rights that the cluster denies are others now"); said != (tc.want != "") {
				t.Errorf("the log says %v:\n%s", said, r.log())
			}
			if asked := v.take(); tc.answer != nil && len(asked) > len(needs()) {
				t.Errorf("asked for %q", asked)
			} else if tc.answer == nil {
				fleettest.Same(t, "questions", []string{"get,,namespaces,,kube-system,kube-system", "list,metrics.k8s.io,pods,,,",
					"update,*,*,scale,,"}, asked)
			}
		})
	}
}

// A member that hangs on reviews, and on nothing else, stays ready, and what it said before stands until other credentials are used.
func TestWhatWasSaidOfRightsStands(t *testing.T) {
	t.Parallel()
	v := &reviewer{deny: func(a *authorizationv1.ResourceAttributes) bool { return a.Verb == "list" }}
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	east.handle = v.serve
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub, func(o *Options) { o.Needs, o.Connections.Timeout = needs(), 500*time.Millisecond })
	r.becomes("east=Ready")
	memberstest.Eventually(t, "true list pods.metrics.k8s.io", func() string { return denied(r) })

	v.set(nil, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	e := r.entryOf("secret", "east")
	conn := e.conn
	began := time.Now()
	e.reviews.ask(t.Context(), conn, needs(), 100*time.Millisecond)
	if took := time.Since(began); took > 400*time.Millisecond {
		t.Errorf("asking took %v", took)
	}
	fleettest.Same(t, "missing", []string{"list pods.metrics.k8s.io"}, e.reviews.missing(needs()))
	fleettest.Same(t, "state", true, r.member("east").State().Ready)

	east.set(func() { east.token = "another" })
	hub.Put(t, east.secret(t, "east"))
	memberstest.Eventually(t, "true ", func() string { return denied(r) })
	fleettest.Same(t, "state", true, r.member("east").State().Ready)
}

// What people have granted they see within a minute; what is as it should be is asked for rarely.
func TestHowLongTraitsLast(t *testing.T) {
	for _, tc := range []struct {
		traits Traits
		want   time.Duration
	}{
		{Traits{}, 5 * time.Minute},
		{Traits{AskedRights: true, Version: "v1"}, 5 * time.Minute},
		{Traits{AskedRights: true, MissingRights: []string{"list pods"}}, time.Minute},
	} {
		if got := tc.traits.last(); got != tc.want {
			t.Errorf("%+v last %v, want %v", tc.traits, got, tc.want)
		}
	}
}

// Of many rights some are asked for at a time, until all were; and no more than that.
func TestRightsAreAskedForInTurns(t *testing.T) {
	t.Parallel()
	v := &reviewer{deny: func(a *authorizationv1.ResourceAttributes) bool { return a.Namespace == "n0" || a.Namespace == "n299" }}
	_, east, r := joined(t)
	east.set(func() { east.handle = v.serve })
	many := make([]grants.Right, 300)
	for i := range many {
		many[i] = grants.Right{Verb: "get", Resource: "pods", Namespace: fmt.Sprintf("n%d", i)}
	}
	var asked reviews
	conn := r.entryOf("secret", "east").conn
	seen := map[string]int{}
	for i, want := range []struct {
		questions int
		missing   []string
	}{
		{128, []string{"get pods in n0"}}, {128, []string{"get pods in n0"}}, {128, []string{"get pods in n0", "get pods in n299"}},
	} {
		asked.ask(t.Context(), conn, many, time.Minute)
		questions := v.take()
		for _, q := range questions {
			seen[q]++
		}
		if diff := cmp.Diff(want.missing, asked.missing(many)); diff != "" || len(questions) != want.questions {
			t.Errorf("inspection %d: %d questions, missing (-want +got):\n%s", i, len(questions), diff)
		}
	}
	if len(seen) != len(many) {
		t.Errorf("%d of %d rights were asked for", len(seen), len(many))
	}

	// The first failure ends it, and the next inspection begins behind it.
	v.set(nil, saying(http.StatusInternalServerError, ""))
	before := asked.next
	asked.ask(t.Context(), conn, many, time.Minute)
	if n := len(v.take()); n == 0 || n > reviewsAtOnce {
		t.Errorf("%d questions after a failure", n)
	}
	if moved := asked.next - before; moved < 1 || moved > reviewsAtOnce {
		t.Errorf("the next inspection begins %d rights later", moved)
	}
	if got := asked.missing(many); len(got) != 2 {
		t.Errorf("after a failure %q are missing", got)
	}
	var failed atomic.Bool
	v.set(nil, func(w http.ResponseWriter, r *http.Request) {
		if !failed.Swap(true) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		<-r.Context().Done()
	})
	began := time.Now()
	asked.ask(t.Context(), conn, many, time.Minute)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("after a failure the others were waited for, for %v", took)
	}
}

// Members are not asked for rights again before the next inspection, nor where nothing is needed.
func TestRightsAreAskedForOnceOrNever(t *testing.T) {
	t.Parallel()
	for _, needed := range [][]grants.Right{nil, needs()} {
		v := &reviewer{}
		hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
		east.handle = v.serve
		hub.Put(t, east.secret(t, "east"))
		r := start(t, hub, func(o *Options) { o.Needs = needed })
		r.becomes("east=Ready")
		probes := east.probes.Load()
		memberstest.Eventually(t, "probed again", func() string {
			if east.probes.Load() > probes+3 {
				return "probed again"
			}
			return ""
		})
		if asked := v.take(); len(asked) != len(needed) {
			t.Errorf("asked for %q, want %d rights", asked, len(needed))
		}
	}
}

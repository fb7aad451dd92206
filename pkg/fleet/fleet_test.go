// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestClassify(t *testing.T) {
	pods := schema.GroupResource{Group: "metrics.k8s.io", Resource: "pods"}
	get := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://10.0.0.1/secret?token=abc", Err: err}
	}
	tests := map[string]struct {
		err        error
		want       *Silence
		wantAbsent bool
	}{
		"no error is an answer":      {nil, nil, false},
		"404 is an answer: has none": {apierrors.NewNotFound(pods, "x"), nil, true},
		"401 is silent":              {apierrors.NewUnauthorized("token expired"), &Silence{ReasonForbidden, "token expired"}, false},
		"403 is silent": {apierrors.NewForbidden(pods, "", errors.New("no")),
			&Silence{ReasonForbidden, "pods.metrics.k8s.io is forbidden: no"}, false},
		"429 is silent": {apierrors.NewTooManyRequests("slow down", 1), &Silence{ReasonRateLimited, "slow down"}, false},
		"503 is silent": {apierrors.NewServiceUnavailable("no endpoints"), &Silence{ReasonServerError, "no endpoints"}, false},
		"500 is silent": {apierrors.NewInternalError(errors.New("boom")),
			&Silence{ReasonServerError, "Internal error occurred: boom"}, false},
		"504 is a time-out":          {apierrors.NewTimeoutError("slow", 1), &Silence{ReasonTimeout, "Timeout: slow"}, false},
		"400 is a bad answer":        {apierrors.NewBadRequest("what?"), &Silence{ReasonBadAnswer, "what?"}, false},
		"a deadline is a time-out":   {get(context.DeadlineExceeded), &Silence{ReasonTimeout, "no answer within the deadline"}, false},
		"a socket's deadline is too": {get(os.ErrDeadlineExceeded), &Silence{ReasonTimeout, "no answer within the deadline"}, false},
		"a refused connection": {get(&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}),
			&Silence{ReasonUnreachable, "dial tcp: connection refused"}, false},
		"an unknown authority": {get(x509.UnknownAuthorityError{}),
			&Silence{ReasonCertificate, "x509: certificate signed by unknown authority"}, false},
		"many lines become one":        {errors.New("a\n  b"), &Silence{ReasonUnreachable, "a b"}, false},
		"a silence keeps its own word": {fmt.Errorf("listing: %w", &Silence{ReasonStale, "old"}), &Silence{ReasonStale, "old"}, false},
		"what is long is cut": {apierrors.NewBadRequest(strings.Repeat("x", mostDetail+1)),
			&Silence{ReasonBadAnswer, strings.Repeat("x", mostDetail) + "…"}, false},
		"what is not so long is not": {apierrors.NewBadRequest(strings.Repeat("x", mostDetail)),
			&Silence{ReasonBadAnswer, strings.Repeat("x", mostDetail)}, false},
		"a silence is cut too, between letters": {&Silence{ReasonStale, strings.Repeat("x", mostDetail-1) + "éé"},
			&Silence{ReasonStale, strings.Repeat("x", mostDetail-1) + "…"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, absent := Classify(tc.err)
			fleettest.Same(t, fmt.Sprintf("Classify(%v)", tc.err), tc.want, got)
			if absent != tc.wantAbsent {
				t.Errorf("Classify(%v) absent = %v, want %v", tc.err, absent, tc.wantAbsent)
			}
		})
	}
}

// A member says 404 in words of its own, too.
func TestUnansweredIsBounded(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{}, "")
	for said, want := range map[string]string{
		"nothing\nthere\x1b[2J":           "nothing there\ufffd[2J",
		strings.Repeat("x", mostDetail+1): strings.Repeat("x", mostDetail) + "…",
	} {
		missing.ErrStatus.Message = said
		fleettest.Same(t, "Unanswered", &Silence{ReasonBadAnswer, want}, Unanswered(missing))
	}
	fleettest.Same(t, "of none", (*Silence)(nil), Unanswered(nil))
}

func TestAnswerHoldsEachMemberOnce(t *testing.T) {
	a := NewAnswer[int](3)
	a.Add("west", 0, apierrors.NewUnauthorized("expired"))
	a.Add("north", 7, nil)
	a.Add("east", 0, apierrors.NewNotFound(schema.GroupResource{}, ""))
	want := Coverage{
		Answered: []string{"east", "north"},
		Absent:   []string{"east"},
		Silent:   []SilentMember{{"west", Silence{ReasonForbidden, "expired"}}},
	}
	fleettest.Same(t, "Coverage()", want, a.Coverage())
	fleettest.Same(t, "Values", map[string]int{"east": 0, "north": 7}, a.Values)
}

func TestWarning(t *testing.T) {
	silent := func(names ...string) (out []SilentMember) {
		for _, n := range names {
			out = append(out, SilentMember{n, Silence{ReasonTimeout, "no answer within the deadline"}})
		}
		return out
	}
	tests := map[string]struct {
		coverage Coverage
		want     string
	}{
		"nothing is missing": {Coverage{Answered: []string{"a"}}, ""},
		"one of two": {Coverage{Answered: []string{"a"}, Silent: silent("west")},
			"1 of 2 clusters did not answer: west (Timeout: no answer within the deadline)"},
		"the only one": {Coverage{Silent: silent("west")},
			"1 of 1 cluster did not answer: west (Timeout: no answer within the deadline)"},
		"the rest is counted": {Coverage{Silent: silent("a", "b", "c", "d", "e")},
			"5 of 5 clusters did not answer: a (Timeout: no answer within the deadline), b (Timeout: no answer within the deadline), c (Timeout: " +
				"no answer within the deadline) and 2 more"},
		"no such API": {Coverage{Answered: []string{"a", "b"}, Absent: []string{"b"}}, "not served by: b"},
		"both": {Coverage{Answered: []string{"a", "b"}, Absent: []string{"b"}, Silent: []SilentMember{{"c", Silence{Reason: ReasonForbidden}}}},
			"1 of 3 clusters did not answer: c (Forbidden); not served by: b"},
		"known from others": {Coverage{Answered: []string{"a"}, Silent: silent("west"), Covered: []string{"west"}},
			"1 of 2 clusters did not answer: west (Timeout: no answer within the deadline); known from the others: all of west"},
		"drained": {Coverage{Answered: []string{"a"}, Drained: []string{"west"}}, "drained, and did not answer: west"},
		"a long detail is cut": {Coverage{Silent: []SilentMember{{"c", Silence{ReasonServerError, strings.Repeat("é", 80)}}}},
			"1 of 1 cluster did not answer: c (ServerError: " + strings.Repeat("é", 59) + "…)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "Warning()", tc.want, tc.coverage.Warning())
		})
	}
}

func TestNobodyAnswered(t *testing.T) {
	west := []SilentMember{{"west", Silence{Reason: ReasonTimeout}}}
	tests := map[string]struct {
		coverage Coverage
		want     bool
	}{
		"nobody was asked": {Coverage{}, false},
		"all are silent":   {Coverage{Silent: west}, true},
		"one answered":     {Coverage{Answered: []string{"a"}, Silent: west}, false},
		"all are drained":  {Coverage{Drained: []string{"west"}}, true},
	}
	for name, tc := range tests {
		if got := tc.coverage.NobodyAnswered(); got != tc.want {
			t.Errorf("%s: NobodyAnswered() = %v, want %v", name, got, tc.want)
		}
	}
}

func TestParseCoverageRefuses(t *testing.T) {
	tests := map[string]string{
		"answered":         `parsing coverage "answered": "answered" is not of the form key=name,…`,
		"answered=a,,b":    `parsing coverage "answered=a,,b": "answered=a,,b" is not of the form key=name,…`,
		"silent=a":         `parsing coverage "silent=a": "a" is not of the form cluster:Reason`,
		"silent=:Timeout":  `parsing coverage "silent=:Timeout": ":Timeout" is not of the form cluster:Reason`,
		"whatever=a":       `parsing coverage "whatever=a": unknown part "whatever"; known are answered, absent, silent, covered and drained`,
		"answered=a;":      `parsing coverage "answered=a;": "" is not of the form key=name,…`,
		"answered=a;b=c,d": `parsing coverage "answered=a;b=c,d": unknown part "b"; known are answered, absent, silent, covered and drained`,
	}
	for header, want := range tests {
		_, err := ParseCoverage(header)
		if err == nil || err.Error() != want {
			t.Errorf("ParseCoverage(%q) error = %v, want %s", header, err, want)
		}
	}
}

// FuzzParseCoverage holds that whatever is accepted is written back the same,
// so no two readers of one header can disagree.
func FuzzParseCoverage(f *testing.F) {
	f.Add("answered=east,north;absent=north;silent=west:Timeout,south:Forbidden;covered=south")
	f.Add("answered=east;drained=west,north")
	f.Add("silent=a:b:c")
	f.Add("")
	f.Fuzz(func(t *testing.T, header string) {
		c, err := ParseCoverage(header)
		if err != nil {
			return
		}
		again, err := ParseCoverage(c.Header())
		if err != nil {
			t.Fatalf("ParseCoverage(%q), written back from %q: %v", c.Header(), header, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("%q does not survive a round (-first +second):\n%s", header, diff)
		}
	})
}

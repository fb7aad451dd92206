// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

func TestCustomQuestionsHaveAnswers(t *testing.T) {
	fleet := newFleet(t, 1)
	if err := setFigures(fleet); err != nil {
		t.Fatal(err)
	}
	s := server(t, fleet.Members()[0])
	for _, q := range customQuestions() {
		for _, n := range []int{0, 1, distinct, distinct + 1, many - 1, many} {
			if code := codeOf(t, s, q.path(n)); code != http.StatusOK {
				t.Errorf("%s: %d to GET %s", q.name, code, q.path(n))
			}
		}
	}
}

func TestMembersAreAskedThemselves(t *testing.T) {
	fleet := newFleet(t, 3)
	if err := setFigures(fleet); err != nil {
		t.Fatal(err)
	}
	peer, err := newThemselves(fleet)
	if err != nil {
		t.Fatal(err)
	}
	before, q := fleet.Requests(), customQuestions()[0]
	ask := func() measure.Result {
		return measure.Ask(t.Context(), peer, measure.Question{URL: func(n int) string { return "https://members" + q.path(n) },
			Accept: asAutoscalers}, measure.Load{Clients: 2})
	}
	if got := ask(); len(got.Latencies) != 2 || fleet.Requests().Since(before).Of("custom.metrics.k8s.io") != 2*3 {
		t.Errorf("%d answers of %v", len(got.Latencies), fleet.Requests().Since(before))
	}
	fleet.Members()[1].Behave(sim.Conduct{Failing: 1})
	if got := ask(); got.Refused[http.StatusServiceUnavailable] != 2 || q.refused(got) == nil {
		t.Errorf("with one that fails: %+v", got)
	}
	fleet.Members()[2].Behave(sim.Conduct{Away: true})
	if got := ask(); len(got.Latencies) != 0 {
		t.Errorf("with one that is away: %+v", got)
	}
}

func TestReachesOfCustomMetrics(t *testing.T) {
	all := make([]customFigures, len(customQuestions()))
	for i := range all {
		all[i] = customFigures{perSecond: measure.Samples{2000, 1000}, themselves: measure.Samples{500, 500}}
	}
	all[1].cpu = measure.Samples{2.5}
	all[1].perSecond, all[len(all)-1].perSecond = measure.Samples{900}, measure.Samples{50}
	s := customSection(8, all)
	want := map[string]bool{
		"answers at default options: one object, always the same": true, "answers at default options: one object, 100 in turn": false,
		"answers at default options: 200 Pods by a selector": true, "answers at default options: one series of an external metric": true,
	}
	fleettest.Same(t, "", want, reached(s))
	if got, want := s.Reaches[1].Why, "1000 answers of 2.5 ms of CPU take 2.5 cores"; !strings.HasPrefix(got, want) {
		t.Errorf("it is slow because %s", got)
	}
	if got := s.Tables[0].Rows[0][3]; got != "3 (2–4)" {
		t.Errorf("the ratio to who asks members is %s", got)
	}
}

func codeOf(t *testing.T, s *stage.Server, path string) int {
	t.Helper()
	result := measure.Ask(t.Context(), s.Client, measure.Question{URL: func(int) string { return s.URL + path }, Accept: stage.JSON},
		measure.Load{Clients: 1})
	for code := range result.Refused {
		return code
	}
	return http.StatusOK
}

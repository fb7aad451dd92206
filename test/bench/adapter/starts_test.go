// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// A server that begins with less than the whole is told from one that refuses at first.
func TestStartsAreWatched(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	m.Behave(sim.Conduct{Failing: 1})
	begin := time.Now()
	var b beginning
	watched := make(chan error, 1)
	go func() {
		var err error
		b, err = watchStart(t.Context(), server(t, m), 2, begin, func() bool { return true })
		watched <- err
	}()
	asked := func() int { return m.Requests().Of("metrics.k8s.io") }
	for asked() < 3 {
		if err := measure.Pass(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	m.Behave(sim.Conduct{})
	for seen := asked(); asked() < seen+3; {
		if err := measure.Pass(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Run(sim.Workload{Namespace: namespaceOf(2), Name: "web", Replicas: 2}); err != nil {
		t.Fatal(err)
	}
	if err := <-watched; err != nil {
		t.Fatal(err)
	}
	if b.empty < 2 || b.wrong != 0 || b.before[http.StatusServiceUnavailable] < 3 ||
		b.before.total() != b.before[http.StatusServiceUnavailable] || b.whole <= 0 || b.whole > time.Since(begin).Seconds() {
		t.Errorf("%+v", b)
	}
}

func TestAnswersBeforeTheWholeAreTold(t *testing.T) {
	b := newBeginning()
	b.add(errors.New("connection refused"), false)
	b.add(fmt.Errorf("asking: %w", &stage.Refusal{Code: 403}), false)
	for _, err := range []error{
		errors.New("connection refused"), fmt.Errorf("asking: %w", &stage.Refusal{Code: 503}), fmt.Errorf("3 of 4: %w", stage.ErrPartial),
		fmt.Errorf("asking: %w", &stage.Refusal{Code: 503}), stage.ErrNotWhole, stage.ErrEmpty,
	} {
		b.add(err, true)
	}
	if diff := cmp.Diff([]refusals{{0: 1, 403: 1}, {0: 1, 200: 1, 503: 2}}, []refusals{b.unready, b.before}); diff != "" || b.wrong != 1 ||
		b.empty != 1 {
		t.Errorf("%d wrong, %d empty (-want +got):\n%s", b.wrong, b.empty, diff)
	}
}

func TestReachesOfStarts(t *testing.T) {
	few := newBeginnings(2, []beginning{{whole: 1, unready: refusals{0: 2}, before: refusals{503: 1}}})
	for name, tc := range map[string]struct {
		last        []beginning
		soon, right bool
	}{
		"as it should be": {[]beginning{{whole: 4, before: refusals{0: 2, 503: 1}}, {whole: 5}}, true, true},
		"late":            {[]beginning{{whole: 6}, {whole: 5.5}, {whole: 1}}, false, true},
		"wrong once":      {[]beginning{{whole: 4}, {whole: 1, wrong: 1}}, true, false},
		"empty once":      {[]beginning{{whole: 4, empty: 1}, {whole: 1}}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSection([]beginnings{few, newBeginnings(100, tc.last)}, 2000, measure.Samples{20})
			want := map[string]bool{"first whole answer with 100 members": tc.soon,
				"answers that are empty, or lack Pods and do not say so": tc.right}
			fleettest.Same(t, "", want, reached(s))
		})
	}
	s := startSection([]beginnings{few}, 40, nil)
	if diff := cmp.Diff([]string{"2", "1", "–", "2 (no answer)", "1 (503)", "0"}, s.Tables[0].Rows[0]); diff != "" || len(s.Text) != 1 {
		t.Errorf("%d texts (-want +got):\n%s", len(s.Text), diff)
	}
}

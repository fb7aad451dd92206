// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// settled returns when all users see the whole.
func (s *scene) settled(t *testing.T) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		for _, u := range s.users() {
			if j, _ := u.ask(ctx); j.Verdict != truth.Right {
				return fmt.Errorf("%s: %s: %.600s", u.name, j.Verdict, j.Because)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// under has an adversary do what it can for so long, and holds all programs, users and autoscalers to what is promised. harass
// begins, and returns what ends it.
func (s *scene) under(t *testing.T, atLeast time.Duration, harass func() (end func())) {
	t.Helper()
	var off cost
	if !testing.Short() {
		off = s.passing(t, turn/2)
	}
	before := s.uses(t)
	for _, p := range s.programs {
		if err := p.PID.ResetPeak(); err != nil {
			t.Fatal(err)
		}
	}
	end := s.watching(t.Context())
	relieve, begin := sync.OnceFunc(harass()), time.Now()
	defer relieve()
	s.move(t)
	if err := measure.Pass(t.Context(), atLeast-time.Since(begin)); err != nil {
		t.Fatal(err)
	}
	after, took := s.uses(t), time.Since(begin)
	relieve()
	j := end()
	on := costOf(before, after, took, j)
	s.costs = append(s.costs, comparison{t.Name(), off, on})
	s.unharmed(t, j)
	s.stood(t)
	for _, seen := range slices.Concat(s.stolen.take(), s.trespass.take()) {
		t.Error(seen)
	}
	for i, p := range s.programs {
		limit := p.limit
		if testing.Short() { // beside other tests garbage is collected late
			limit += limit / 4
		}
		if after[i].peak >= limit {
			t.Errorf("%s took %d MiB of memory, and its limit is %d", p.name, after[i].peak>>20, limit>>20)
		}
		t.Logf("%s: %.2f cores; at most %d MiB; %v goroutines, %v connections", p.name, on.cores[i], after[i].peak>>20, after[i].goroutines,
			after[i].sockets)
	}
	latencies := j.latencies()
	t.Logf("%d answers; p50 %.0f ms, p99 %.0f ms", len(latencies), latencies.Quantile(0.5), on.p99)
	if testing.Short() {
		return // what was asked is kept for minutes
	}
	begin = time.Now()
	s.calm(t, before)
	t.Logf("calm again after %v", time.Since(begin).Round(time.Second))
}

// uses is what each program uses now.
func (s *scene) uses(t *testing.T) (all []usage) {
	t.Helper()
	for _, p := range s.programs {
		u, err := p.usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

// calm returns when no program holds on to what an attack has left.
func (s *scene) calm(t *testing.T, before []usage) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		for i, p := range s.programs {
			now, err := p.usage(ctx)
			if err == nil {
				err = now.calm(before[i])
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("after the attack: %v", err)
	}
}

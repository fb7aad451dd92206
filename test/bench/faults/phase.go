// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// phase is what was seen of one fault.
type phase struct {
	fault string
	// before is without the fault; since is from its begin until all was right again.
	before, during, since entries
	// recovery is the time from its end until the last answer that was not right.
	recovery  time.Duration
	recovered bool
	// scaleIns are writes that the load did not call for.
	scaleIns int
	// memory of an adapter that went through it.
	memory footprint
}

// footprint is what a process occupies, in bytes.
type footprint struct {
	heap, resident float64
}

func (s *scene) footprint(ctx context.Context) (f footprint, err error) {
	server := s.replicas.Servers[survivor]
	if f.heap, err = server.Heap(ctx); err != nil {
		return f, err
	}
	m, err := server.PID.Memory()
	f.resident = float64(m.Resident)
	return f, err
}

// run has a fault begin, after as long without it, and end, and waits until all
// is right again.
func (s *scene) run(ctx context.Context, f fault, during time.Duration, j *journal, clients []string) (p phase, err error) {
	p.fault = f.name
	s.phase.Add(1)
	start := time.Now()
	if err := measure.Pass(ctx, during); err != nil {
		return p, err
	}
	s.phase.Add(1) // first questions come from now on
	begin := time.Now()
	p.before = j.between(start, begin)
	end, err := f.begin(ctx, s)
	if err != nil {
		return p, fmt.Errorf("beginning: %s: %w", f.name, err)
	}
	if err := measure.Pass(ctx, during); err != nil {
		return p, err
	}
	ended := time.Now()
	p.during = j.between(begin, ended)
	if err := end(ctx); err != nil {
		return p, fmt.Errorf("ending: %s: %w", f.name, err)
	}
	if err := s.await(ctx, &p, ended, j, clients); err != nil {
		return p, err
	}
	p.since = j.between(begin, time.Now())
	p.scaleIns = len(s.scalers.wrong(begin))
	p.memory, err = s.footprint(ctx)
	fmt.Fprintf(s.log, "%s: %d answers, %d wrong, %d silent partial, %d partial and said, %d refused, %d without answer; right again after "+
		"%s\n", f.name, len(p.since), p.since.wrong(),
		p.since.of(truth.Silent), p.since.of(truth.Partial), p.since.of(truth.Refused), p.since.of(truth.Unanswered),
		p.recovery.Round(10*time.Millisecond))
	return p, err
}

// await returns when all is right again. What began before the fault's end does not count.
func (s *scene) await(ctx context.Context, p *phase, ended time.Time, j *journal, clients []string) error {
	const poll, atMost = 100 * time.Millisecond, 3 * time.Minute
	for time.Since(ended) < atMost {
		if err := measure.Pass(ctx, poll); err != nil {
			return err
		}
		if err := s.scalers.revive(ctx); err != nil {
			return err
		}
		last, ok := j.between(ended, time.Now()).recovered(clients, ended, time.Now(), s.plan.Calm)
		if p.recovery, p.recovered = last.Sub(ended), ok; ok {
			return nil
		}
	}
	p.recovery = time.Since(ended)
	return nil
}

// ratio returns that of the p99 with the fault by that before.
func (p phase) ratio(q float64) float64 {
	return p.during.latencies().Quantile(q) / p.before.latencies().Quantile(q)
}

func (p phase) row() []string {
	n := func(v int) string { return fmt.Sprint(v) }
	counts := p.since.counts()
	recovery := fmt.Sprintf("%.1f", p.recovery.Seconds())
	if !p.recovered {
		recovery = "not in " + recovery
	}
	before, during := p.before.latencies(), p.during.latencies()
	return []string{
		p.fault, n(len(p.since)), n(p.since.wrong()), n(counts[truth.Silent]), n(counts[truth.Partial]), n(counts[truth.Refused]),
		n(counts[truth.Unanswered]),
		measure.Short(before.Quantile(0.5)) + " → " + measure.Short(during.Quantile(0.5)),
		measure.Short(before.Quantile(0.99)) + " → " + measure.Short(during.Quantile(0.99)),
		measure.Short(p.ratio(0.99)), recovery, n(p.scaleIns),
		measure.Short(p.memory.heap/mib) + " / " + measure.Short(p.memory.resident/mib),
	}
}

const mib = 1 << 20

func phaseHeader() []string {
	return []string{
		"fault", "answers", "wrong", "silent partial", "partial, and said", "refused", "no answer", "lists, p50, ms: before → with it", "p99, ms",
		"p99, ratio",
		"all right again after, s", "wrong scale-ins", "heap / resident afterwards, MiB",
	}
}

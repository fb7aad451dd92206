// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// side is one controller, and what works for it.
type side struct {
	name string
	// reconciliations is the controller's own count of decisions, by label error.
	reconciliations string
	// at is where its autoscalers are; members are others that are asked.
	at         *sim.Member
	members    *sim.Fleet
	reconciles *reconciles
	// programs are the controller, and the adapter if there is one.
	programs []*stage.Program
}

const (
	ours     = "fleetscale"
	upstream = "upstream"
)

// tally is all that is counted of a side up to a moment.
type tally struct {
	at               time.Time
	decided, faulty  float64
	cpu              []time.Duration // of each program
	requests, others int             // to its API server; to members
}

func (s *side) tally(ctx context.Context) (t tally, err error) {
	for _, p := range s.programs {
		cpu, err := p.PID.CPU()
		if err != nil {
			return t, fmt.Errorf("sampling the programs of %s: %w", s.name, err)
		}
		t.cpu = append(t.cpu, cpu)
	}
	t.at = time.Now()
	controller := s.programs[0]
	if t.decided, err = controller.Sum(ctx, s.reconciliations, `error="none"`); err != nil {
		return t, err
	}
	for _, kind := range []string{"spec", "internal"} {
		n, err := controller.Sum(ctx, s.reconciliations, fmt.Sprintf("error=%q", kind))
		if err != nil {
			return t, err
		}
		t.faulty += n
	}
	t.requests = s.at.Requests().Total()
	if s.members != nil {
		t.others = s.members.Requests().Total()
	}
	return t, nil
}

// effort is what a side did between two tallies.
type effort struct {
	Seconds, Decisions, Faulty float64
	// CPU is seconds of each program.
	CPU []float64
	// Requests are those to its API server, Others those to members.
	Requests, Others float64
}

func between(a, b tally) effort {
	e := effort{
		Seconds: b.at.Sub(a.at).Seconds(), Decisions: b.decided - a.decided, Faulty: b.faulty - a.faulty,
		Requests: float64(b.requests - a.requests), Others: float64(b.others - a.others),
	}
	for i := range b.cpu {
		e.CPU = append(e.CPU, (b.cpu[i] - a.cpu[i]).Seconds())
	}
	return e
}

func (e effort) perSecond() float64 { return e.Decisions / e.Seconds }

func (e effort) cores() (all float64) {
	for _, cpu := range e.CPU {
		all += cpu / e.Seconds
	}
	return all
}

// cost is the CPU of a decision in milliseconds, of one program or of all (-1).
func (e effort) cost(program int) float64 {
	all := 0.0
	for i, cpu := range e.CPU {
		if program < 0 || i == program {
			all += cpu
		}
	}
	return all * 1000 / e.Decisions
}

// restart ends the controller, and starts it with other arguments.
func (s *side) restart(ctx context.Context, start func(context.Context) (*stage.Program, error)) error {
	if err := s.programs[0].Stop(); err != nil {
		return err
	}
	s.reconciles.drain()
	p, err := start(ctx)
	if err == nil {
		s.programs[0] = p
	}
	return err
}

func (s *side) freeze() error {
	var errs []error
	for _, p := range s.programs {
		errs = append(errs, p.Freeze())
	}
	return errors.Join(errs...)
}

func (s *side) thaw() error {
	var errs []error
	for _, p := range s.programs {
		errs = append(errs, p.Thaw())
	}
	return errors.Join(errs...)
}

func (s *side) stop() error {
	var errs []error
	for _, p := range s.programs {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}

// footprint is what each program occupies, in bytes.
type footprint struct{ heap, resident []float64 }

func (s *side) footprint(ctx context.Context) (f footprint, err error) {
	for _, p := range s.programs {
		heap, err := p.Heap(ctx)
		if err != nil {
			return f, err
		}
		m, err := p.PID.Memory()
		if err != nil {
			return f, err
		}
		f.heap, f.resident = append(f.heap, heap), append(f.resident, float64(m.Resident))
	}
	return f, nil
}

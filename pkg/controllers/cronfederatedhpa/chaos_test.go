// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// A program ends at each of its calls to the hub in turn, before or after it
// took effect, and another begins: at once, or hours later.
func TestCrashAtEachCall(t *testing.T) {
	all, each := []time.Duration{0, 2 * time.Hour, time.Second}, 1
	if testing.Short() {
		all = all[:2] // a second is as good as none, in all but the last digit
		each = 3      // the other calls are another time's, or kind of crash's
	}
	for i, away := range all {
		for j, took := range []bool{false, true} {
			t.Run(fmt.Sprintf("away %v, took effect %v", away, took), func(t *testing.T) {
				for _, target := range append(autoscalers(), deployment) {
					for n, crashed := (i+j)%each, true; crashed; n += each {
						crashed = crashAt(newWorld(t, 1, moment(t, "2026-03-08 06:20"), target, dumbRules()), n, took, away)
					}
				}
			})
		}
	}
}

// crashAt ends the program at one call, if it comes to that.
func crashAt(w *world, n int, took bool, away time.Duration) (crashed bool) {
	crash := func(call int) error {
		if call < n || crashed && call > n {
			return nil
		}
		crashed = true
		return errCrashed
	}
	if took {
		w.after = crash
	} else {
		w.before = crash
	}
	until := w.clock.Now().Add(45 * time.Minute) // in which New York's clocks change
	for w.clock.Now().Before(until) {
		was := crashed
		wait, err := w.reconcile(w.program[0])
		if crashed != was {
			w.program[0], wait = w.sim.program(), away+time.Millisecond
		} else if err != nil {
			w.t.Fatal(err)
		} else {
			w.holds()
		}
		w.advance(wait)
	}
	w.lives(w.clock.Now().Add(time.Minute), w.holds)
	w.accounts()
	return crashed
}

// Between two calls of one leader, another that does not know of it does all of
// its work: for each pair of calls in turn. Somebody sets the target by hand
// right after, and that must hold.
func TestTwoLeadersAtOnce(t *testing.T) {
	each := 1
	if testing.Short() {
		each = 2 // the other calls are another target's
	}
	for i, target := range append(autoscalers(), deployment) {
		for n, came := i%each, true; came; n += each {
			came = intrudesAt(newWorld(t, 1, moment(t, "2026-03-08 06:20"), target, dumbRules()), n)
		}
	}
}

// intrudesAt has the other leader come before one call, if it comes to that.
func intrudesAt(w *world, n int) (came bool) {
	other, until := w.sim.program(), w.clock.Now().Add(50*time.Minute)
	w.before = func(call int) error {
		if call != n || came {
			return nil
		}
		came = true
		if _, err := w.reconcile(other); err != nil {
			return err
		}
		if w.settled() {
			w.holds()
			w.handle()
		}
		return nil
	}
	for w.clock.Now().Before(until) {
		wait, err := w.reconcile(w.program[0])
		if err != nil {
			w.t.Fatal(err)
		}
		w.holds()
		w.advance(wait)
	}
	w.accounts()
	return came
}

// storm is a random mix of all that may happen.
type storm struct {
	*world
	began time.Time
	steps bool // the clock is set back and forth
	crash bool // the program in hand has ended
}

// newStorm has a weather of its seed: summer time begins or ends, the clock of the
// machine steps or not, the target is a Deployment or one of two autoscalers.
func newStorm(t *testing.T, seed uint64) *storm {
	rules := dumbRules()
	rules[4].spec.MaxDelaySeconds, rules[6].spec.MaxDelaySeconds = new(int64(20)), new(int64(600))
	target := deployment
	if seed&4 != 0 {
		target = autoscalers()[seed>>3&1]
	}
	begin := moment(t, []string{"2026-03-07 12:00", "2026-10-31 12:00"}[seed&1])
	s := &storm{began: begin, steps: seed&2 == 0, world: newWorld(t, seed, begin, target, rules)}
	s.program = append(s.program, s.sim.program())
	return s
}

// check verifies the target. What was set and then could not be recorded for so
// long that the run counts as late can be seen there: not then.
func (s *storm) check() {
	switch {
	case s.steps:
		s.asRecorded()
	case !s.log.open:
		s.holds()
	}
}

// step sets the clock, by minutes or by hours.
func (s *storm) step() {
	span := 20 * time.Minute
	if s.one(5) {
		span = 5 * time.Hour
	}
	if by := time.Duration(s.random.Int64N(int64(2*span))) - span; s.clock.Now().Add(by).After(s.began) {
		s.clock.SetTime(s.clock.Now().Add(by))
	}
}

func (s *storm) one(in int) bool { return s.random.IntN(in) == 0 }

// strikes makes a call fail. Those of a program that has ended all do.
func (s *storm) strikes(int) error {
	switch {
	case s.crash:
		return errCrashed
	case s.one(60):
		s.crash = true
		return errCrashed
	case s.one(20):
		return apierrors.NewServiceUnavailable("storm")
	case s.one(40):
		return apierrors.NewTimeoutError("storm", 1)
	}
	return nil
}

func (s *storm) lives(until time.Time) {
	for s.clock.Now().Before(until) {
		i := s.random.IntN(len(s.program))
		wait, err := s.reconcile(s.program[i])
		if err == nil {
			s.check()
		} else {
			wait = time.Second
		}
		if s.crash {
			s.crash, s.program[i] = false, s.sim.program()
			if s.one(3) {
				wait += time.Duration(s.random.Int64N(int64(4 * time.Hour)))
			}
		}
		if s.one(60) && !s.log.open && s.settled() {
			s.handle()
		}
		if s.steps && s.one(100) {
			s.step()
		}
		s.advance(wait)
	}
}

func TestStorm(t *testing.T) {
	for seed := range uint64(days(3, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newStorm(t, 3*seed) // so that even a few are of different kinds
			s.before, s.after = s.strikes, s.strikes
			s.stale = func() bool { return s.one(5) }
			s.lives(s.began.AddDate(0, 0, days(2, 14)))
			s.before, s.after, s.stale = nil, nil, nil
			s.world.lives(s.clock.Now().Add(time.Hour), s.check)
			s.accounts()
			if len(s.log.gone) == 0 || s.log.messages["superseded"] == 0 || len(s.log.good) < 20 {
				t.Errorf("the storm was a calm: %d runs, failures %v", len(s.log.good), s.log.messages)
			}
		})
	}
}

// Rules come, go, and change all the time. What a rule was to do while the
// controller reconciled is in the records, once; the target is as the rules said.
func TestSpecEdits(t *testing.T) {
	for seed := range uint64(days(3, 30)) {
		begin, target := moment(t, "2026-03-07 12:00"), append(autoscalers(), deployment)[seed%3]
		w := newWorld(t, seed, begin, target, dumbRules())
		for w.clock.Now().Before(begin.AddDate(0, 0, days(2, 7))) {
			if w.random.IntN(40) == 0 && w.settled() {
				w.editOne()
			}
			wait, err := w.reconcile(w.program[0])
			if err != nil {
				t.Fatal(err)
			}
			w.holds()
			if w.random.IntN(30) == 0 {
				w.program[0] = w.sim.program()
				wait += time.Duration(w.random.Int64N(int64(20 * time.Minute)))
			}
			w.advance(wait)
		}
		w.lives(w.clock.Now().Add(time.Minute), w.holds)
		w.accounts()
	}
}

// editOne changes one rule: what it sets, its name, or whether it is suspended.
// The program reconciles once, so that there is no doubt what held when.
func (w *world) editOne() {
	i := w.random.IntN(len(w.rules))
	w.edit(func(spec *v1alpha1.CronFederatedHPASpec) {
		rule := &spec.Rules[i]
		switch w.random.IntN(3) {
		case 0:
			*number(rule) = 1 + w.random.Int32N(1000)
		case 1:
			rule.Name = fmt.Sprintf("rule-%d", w.random.IntN(1_000_000))
		case 2:
			rule.Suspend = new(rule.Suspend == nil || !*rule.Suspend)
		}
		w.rules[i].spec = *rule.DeepCopy()
		w.rules[i].asleep = rule.Suspend != nil && *rule.Suspend
	})
	if _, err := w.reconcile(w.program[0]); err != nil {
		w.t.Fatal(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"math/rand/v2"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// world is a sim, and what has to come of it by the dumb definition.
type world struct {
	*sim
	rules   []dumb
	clocks  []*wallClock
	program []*Reconciler // those that may be leader
	walked  time.Time     // up to where duties are known
	duties  []duty
	hand    int // how many duties there were when somebody set the target by hand
	byHand  int32
	batch   int // how many batches there were then
}

// duty is a run that has to be in the records.
type duty struct {
	runKey
	value int32
}

// newWorld has what the rules set: a Deployment or an autoscaler.
func newWorld(t testing.TB, seed uint64, start time.Time, target autoscalingv2.CrossVersionObjectReference, rules []dumb) *world {
	if target != deployment {
		rules = ofAutoscaler(rules)
	}
	var specs []ruleSpec
	w := &world{rules: rules, walked: start, hand: -1}
	for _, r := range rules {
		zone, err := time.LoadLocation(r.zone)
		if err != nil {
			t.Fatal(err)
		}
		spec := r.spec
		spec.TimeZone, spec.SuccessfulHistoryLimit, spec.FailedHistoryLimit = &r.zone, new(int32(32)), new(int32(32))
		specs = append(specs, spec)
		w.clocks = append(w.clocks, &wallClock{zone: zone})
		w.clocks[len(w.clocks)-1].tick(start, r.show)
	}
	object := newCron(target, specs...)
	object.CreationTimestamp = *stamp(start)
	w.sim = newSim(t, start, object, newTarget(target.Kind, 1, 100))
	w.random = rand.New(rand.NewPCG(seed, 1))
	w.program = []*Reconciler{w.sim.program()}
	return w
}

// advance moves the clock, and writes down what has to be done by then.
func (w *world) advance(by time.Duration) {
	w.clock.SetTime(w.clock.Now().Add(by))
	for !w.walked.Add(time.Minute).After(w.clock.Now()) {
		w.walked = w.walked.Add(time.Minute)
		for i, r := range w.rules {
			if w.clocks[i].tick(w.walked, r.show) && !r.asleep {
				w.duties = append(w.duties, duty{runKey{r.spec.Name, w.walked.Unix()}, *number(&r.spec)})
			}
		}
	}
}

// lives until a time: the leader reconciles, and sleeps for as long as it said.
func (w *world) lives(until time.Time, check func()) {
	w.t.Helper()
	for w.clock.Now().Before(until) {
		leader := w.program[w.random.IntN(len(w.program))]
		wait, err := w.reconcile(leader)
		if err != nil {
			wait = time.Second // the queue's patience
		}
		if err == nil {
			check()
		}
		if w.random.IntN(50) == 0 && w.settled() {
			w.handle()
		}
		w.advance(wait)
	}
	for range 3 {
		if _, err := w.reconcile(w.program[0]); err != nil {
			w.t.Fatal(err)
		}
	}
	check()
}

// settled reports whether all that was due is recorded.
func (w *world) settled() bool {
	object := w.cron()
	if object.Status.ObservedGeneration == nil {
		return false
	}
	for _, e := range object.Status.ExecutionHistories {
		if e.NextExecutionTime != nil && !e.NextExecutionTime.After(w.clock.Now()) {
			return false
		}
	}
	return true
}

// holds checks the target whenever nothing is due: it has the value of the
// latest run, or what a hand set there since.
func (w *world) holds() {
	w.t.Helper()
	if !w.settled() {
		return
	}
	want := int32(100)
	for i := len(w.duties) - 1; i >= 0; i-- {
		if i < w.hand {
			break
		}
		if w.isGood(i) || w.log.times(w.duties[i].runKey) == 0 {
			want = w.duties[i].value
			break
		}
	}
	if w.hand == len(w.duties) {
		want = w.byHand
	} else if w.hand >= 0 && !w.anyGoodSince(w.hand) {
		want = w.byHand
	}
	if got := w.replicas(); got != want {
		w.t.Fatalf("%v: the target has %d replicas, want %d", w.clock.Now(), got, want)
	}
}

func (w *world) anyGoodSince(i int) bool {
	for ; i < len(w.duties); i++ {
		if w.isGood(i) {
			return true
		}
	}
	return false
}

// isGood reports whether a duty is recorded as done.
func (w *world) isGood(i int) bool {
	_, good := w.log.good[w.duties[i].runKey]
	return good
}

// handle is another one's hand on the target.
func (w *world) handle() {
	w.scaleTo(4242)
	w.hand, w.byHand, w.batch = len(w.duties), 4242, w.log.batches
}

// asRecorded checks the target where steps of the clock leave no order of runs
// but that in which they were done: it has the value of the latest of those
// that were recorded last, or what a hand set there since.
func (w *world) asRecorded() {
	w.t.Helper()
	if w.log.open || !w.settled() {
		return
	}
	want, at := int32(100), int64(0)
	if w.hand >= 0 && w.batch == w.log.batches {
		want = w.byHand
	} else {
		for _, r := range w.rules { // the later of one time wins
			for _, k := range w.log.latest {
				if k.rule == r.spec.Name && k.at >= at {
					want, at = *number(&r.spec), k.at
				}
			}
		}
	}
	if got := w.replicas(); got != want {
		w.t.Fatalf("%v: the target has %d replicas, want %d", w.clock.Now(), got, want)
	}
}

// accounts checks that each run is recorded, and once.
func (w *world) accounts() {
	w.t.Helper()
	faults := 0
	for _, d := range w.duties {
		if n := w.log.times(d.runKey); n != 1 {
			w.t.Errorf("rule %q at %v is recorded %d times", d.rule, time.Unix(d.at, 0).UTC(), n)
			if faults++; faults > 5 {
				w.t.FailNow()
			}
		}
	}
	place := map[runKey]int{}
	for i, d := range w.duties {
		place[d.runKey] = i
	}
	for k := range w.log.byRun {
		if _, known := place[k]; !known {
			w.t.Errorf("rule %q has a run at %v, which is none of its times", k.rule, time.Unix(k.at, 0).UTC())
		}
	}
	w.justifies(place)
}

// justifies checks that only later runs superseded others, and had success, and
// that no run was later than its rule allows. Runs have places in their order.
func (w *world) justifies(place map[runKey]int) {
	w.t.Helper()
	for lost, by := range w.log.beaten {
		if _, good := w.log.good[by]; !good || place[by] <= place[lost] {
			w.t.Errorf("%v was superseded by %v, of which success is %v", lost, by, good)
		}
	}
	for _, r := range w.rules {
		for k, late := range w.log.good {
			if limit := r.spec.MaxDelaySeconds; k.rule == r.spec.Name && limit != nil && late > time.Duration(*limit)*time.Second {
				w.t.Errorf("%v was done %v late", k, late)
			}
		}
	}
}

// Weeks around the changes of the clocks of three zones, with nothing in the way.
func TestWeeksOfRuns(t *testing.T) {
	for _, begin := range []string{"2026-03-06 12:00", "2026-10-30 12:00"} {
		w := newWorld(t, 1, moment(t, begin), deployment, dumbRules())
		w.lives(w.clock.Now().AddDate(0, 0, days(2, 21)), w.holds)
		w.accounts()
		if w.log.messages["superseded"] == 0 || len(w.log.gone) > 0 || len(w.log.messages) > 1 {
			t.Errorf("failures: %v", w.log.messages)
		}
		for k, late := range w.log.good {
			if late > time.Second {
				t.Errorf("%v was done %v late, with nothing in the way", k, late)
			}
		}
	}
}

// days returns how long a test lives, in its short and its long form.
func days(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}

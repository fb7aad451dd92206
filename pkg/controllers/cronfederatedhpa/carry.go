// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"fmt"
	"time"
)

const unattended = "the controller was not running, or could not reach the hub"

// due are the runs to be done now, in order. What comes too late is noted.
func (in *situation) due(histories []*history) []run {
	var runs []run
	for _, h := range histories {
		r, ok := h.due(in.now, in.cause())
		if !ok {
			continue
		}
		if late := in.late(r); late != nil {
			h.close(*late, in.now)
			continue
		}
		runs = append(runs, r)
	}
	inOrder(runs)
	return runs
}

// cause is why runs were missed: who tried them and failed is still at it.
func (in *situation) cause() string {
	if in.failing != nil {
		return in.failing.message
	}
	return unattended
}

// late is what to note of a run that may not begin any more, or nil.
func (in *situation) late(r run) *record {
	delay, limit := in.now.Sub(r.at), r.of.rule.tardiness()
	switch {
	case limit > 0 && delay > limit:
		late := record{result: missed, at: r.at, message: fmt.Sprintf("missed: started %.0f s late, maxDelaySeconds=%.0f", delay.Seconds(), limit.Seconds())}
		if in.failing != nil && !in.failing.since.After(r.at.Add(limit)) {
			late.result, late.message = failed, in.failing.message
		}
		return &late
	case in.firstSight() && delay > patience:
		return &record{result: missed, at: r.at, message: fmt.Sprintf("missed: the object was created, and the controller came to it %.0f s late", delay.Seconds())}
	}
	return nil
}

// hindrance is why no run can be done now, or nil.
func (in *situation) hindrance() *trouble {
	if in.target.governor != "" {
		return &trouble{reason: reasonAutoscaled, message: in.target.governor, since: in.now}
	}
	return in.target.trouble
}

// do has the runs set the target, and notes what becomes of each. It returns
// what has to be set for that.
func (in *situation) do(runs []run) (set values) {
	wanted, outcomes := settle(in.target.has, in.target.mayHaveNone, runs)
	for _, o := range outcomes {
		r := record{result: succeeded, at: o.at, applied: o.applied}
		switch {
		case o.misfit != "":
			r.result, r.message = failed, o.misfit
		case o.by != nil:
			r.result, r.message = superseded, fmt.Sprintf("superseded by rule %q, scheduled at %s", o.by.of.rule.spec.Name, o.by.at.Format(time.RFC3339))
		}
		o.of.close(r, in.now)
	}
	return wanted.without(in.target.has)
}

// hold keeps the runs for a later try, and gives up those that have been tried
// for long enough. It returns when to try again, or zero.
func (in *situation) hold(runs []run, t *trouble) (again time.Time) {
	for _, r := range runs {
		deadline := in.deadline(r, t)
		if t.final() || !in.now.Before(deadline) {
			r.of.close(record{result: failed, at: r.at, message: t.message}, in.now)
			continue
		}
		pause := min(max(in.now.Sub(t.since)/2, leastPause), mostPause)
		again = earliest(again, earliest(in.now.Add(pause), deadline))
	}
	return again
}

// deadline is when a run is given up.
func (in *situation) deadline(r run, t *trouble) time.Time {
	begun := latest(t.since, r.at) // the trouble may be older than the run
	deadline := earliest(begun.Add(patience), r.of.rule.schedule.Next(r.at))
	if limit := r.of.rule.tardiness(); limit > 0 {
		deadline = earliest(deadline, r.at.Add(limit))
	}
	return deadline
}

// earliest is the earlier of two times that are not zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

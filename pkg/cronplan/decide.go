// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// checkAgain is when a target is read again that was not there.
const checkAgain = time.Minute

// Situation is all that a decision rests on.
type Situation struct {
	Object     *v1alpha1.CronFederatedHPA // defaulted
	Timetables []Timetable                // of the object's rules, in their order
	Now        time.Time
	Target     Target
	// Delay is that of the decision before; nil if it delayed nothing.
	Delay *Delay
	// Grace is for how long clusters need not follow a workload on the hub.
	Grace time.Duration
	// Pruned: the status lacks what another schema of the kind lacks, and is ours otherwise.
	Pruned bool
}

// Decision is what to do.
type Decision struct {
	Set    Values // what the target is to be set to; empty: nothing
	Status v1alpha1.CronFederatedHPAStatus
	News   []Record // what the status says that it did not say before, the newest last
	Delay  *Delay   // of runs that are due and cannot be done yet; nil: there are none
	Wake   time.Time
}

// Decide returns what to do now. It takes for granted that what it wants set will
// be set; if that fails, it is asked again, and told of the trouble.
func Decide(in Situation) Decision {
	rules, faults := in.rules()
	histories, left := in.resume(rules)
	runs := in.due(histories)
	var d Decision
	if h := in.hindrance(); h != nil {
		if d.Wake = in.hold(runs, h); !d.Wake.IsZero() {
			d.Delay = h
		}
	} else {
		d.Set = in.do(runs)
	}
	d.News = newsOf(histories, left)
	d.Status = in.status(histories, d.News, faults)
	for _, h := range histories {
		if next := h.next(); next.After(in.Now) {
			d.Wake = earliest(d.Wake, next)
		}
	}
	if t := in.Target.Trouble; t != nil && !t.final() {
		d.Wake = earliest(d.Wake, in.Now.Add(checkAgain))
	}
	return d
}

// Wanted returns how many replicas the target has once the decision is carried out, if a run succeeded by that; nil: none did.
func (d *Decision) Wanted(has Values) *int32 {
	if !slices.ContainsFunc(d.News, func(r Record) bool { return r.Result == Succeeded }) {
		return nil
	}
	return has.with(d.Set)[Replicas]
}

// NeedsTarget reports whether the target must be known: the object is new or
// changed, its target was not there, or a run is due.
func NeedsTarget(object *v1alpha1.CronFederatedHPA, now time.Time) bool {
	status := &object.Status
	if status.ObservedGeneration == nil || *status.ObservedGeneration != object.Generation || !targetFound(object) {
		return true
	}
	return Due(object, now)
}

// Due reports whether a run has come, by the status.
func Due(object *v1alpha1.CronFederatedHPA, now time.Time) bool {
	return slices.ContainsFunc(object.Status.ExecutionHistories, func(e v1alpha1.ExecutionHistory) bool {
		return e.NextExecutionTime != nil && !e.NextExecutionTime.After(now)
	})
}

// resume opens the history of each rule. Those of rules that are no more are
// left behind, but for runs that were due.
func (in *Situation) resume(rules []rule) (histories []*history, left []Record) {
	stored := map[string]v1alpha1.ExecutionHistory{}
	for i := range in.Object.Status.ExecutionHistories {
		entry := &in.Object.Status.ExecutionHistories[i]
		stored[entry.RuleName] = *entry.DeepCopy()
	}
	for _, r := range rules {
		h := &history{rule: r, stored: stored[r.spec.Name]}
		h.stored.RuleName = r.spec.Name
		if in.Pruned {
			h.remember()
		}
		h.resume(in.since(), in.Now)
		histories = append(histories, h)
		delete(stored, r.spec.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if h := (&history{stored: stored[name]}); h.overdue(in.Now) {
			left = append(left, Record{
				Rule: name, Result: Missed, At: h.next(),
				Message: "not run: the rule was removed or renamed before it could run",
			})
		}
	}
	return histories, left
}

// since is from when on rules run that we have not seen before. Those of a new
// object begin with it, though we come to it later.
func (in *Situation) since() time.Time {
	if in.firstSight() {
		return in.Object.CreationTimestamp.Time
	}
	return in.Now
}

// firstSight reports whether the object is new to us, and still as it was created.
func (in *Situation) firstSight() bool {
	status := &in.Object.Status
	return status.ObservedGeneration == nil && len(status.ExecutionHistories) == 0 &&
		in.Object.Generation <= 1 && !in.Object.CreationTimestamp.IsZero() && in.Object.CreationTimestamp.Time.Before(in.Now)
}

// due are the runs to be done now, in order. What comes too late is noted.
func (in *Situation) due(histories []*history) []run {
	var runs []run
	for _, h := range histories {
		r, ok := h.due(in.Now, in.cause())
		if !ok {
			continue
		}
		if late := in.late(r); late != nil {
			h.close(*late, in.Now)
			continue
		}
		runs = append(runs, r)
	}
	inOrder(runs)
	return runs
}

// cause returns why runs were missed: who tried them and failed is still at it.
func (in *Situation) cause() string {
	if in.Delay != nil {
		return in.Delay.Message
	}
	return "the controller was not running, or could not reach the hub"
}

// late returns what to note of a run that may no longer begin, or nil.
func (in *Situation) late(r run) *Record {
	delay, limit := in.Now.Sub(r.at), r.of.rule.tardiness()
	switch {
	case limit > 0 && delay > limit && (in.Delay == nil || !in.Delay.follows()):
		message := fmt.Sprintf("missed: started %.0f s late, maxDelaySeconds=%.0f", delay.Seconds(), limit.Seconds())
		late := Record{Result: Missed, At: r.at, Message: message}
		if in.Delay != nil && !in.Delay.Since.After(r.at.Add(limit)) {
			late.Result, late.Message = Failed, in.Delay.Message
		}
		return &late
	case in.firstSight() && delay > patience:
		message := fmt.Sprintf("missed: the controller observed the new object %.0f s late", delay.Seconds())
		return &Record{Result: Missed, At: r.at, Message: message}
	}
	return nil
}

// do applies the runs to the target, and records the result of each. It returns
// what has to be set for that.
func (in *Situation) do(runs []run) (set Values) {
	wanted, outcomes := settle(in.Target.Has, in.Target.MayHaveNone, runs)
	for _, o := range outcomes {
		r := Record{Result: Succeeded, At: o.at, Applied: o.applied}
		switch {
		case o.misfit != "":
			r.Result, r.Message = Failed, o.misfit
		case o.by != nil:
			r.Result = Superseded
			r.Message = fmt.Sprintf("superseded by rule %q, scheduled at %s", o.by.of.rule.spec.Name, o.by.at.Format(time.RFC3339))
		}
		o.of.close(r, in.Now)
	}
	return wanted.without(in.Target.Has)
}

// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	// patience is how long a run is tried anew while the hub or the target
	// does not let us. No longer than until the rule's next run, either.
	patience = 10 * time.Minute
	// leastPause and mostPause bound the time between two tries.
	leastPause, mostPause = time.Second, 30 * time.Second
	// lookAgain is when a target is looked for anew that was not there.
	lookAgain = time.Minute
)

// situation is all that a decision rests on.
type situation struct {
	object *v1alpha1.CronFederatedHPA // defaulted; it is not changed
	rules  []rule
	faults []string // of its rules, for the one who wrote them
	now    time.Time
	target targetState
	// failing is what has kept runs from being done until now, if anything.
	failing *trouble
}

// targetState is what is known of the target.
type targetState struct {
	looked      bool   // now; else all below but governor is unknown
	has         values // if there is no trouble
	mayHaveNone bool   // minReplicas may be 0
	governor    string // another autoscaler that sets its replicas, or ""
	trouble     *trouble
}

// trouble is why the target can not be read or set.
type trouble struct {
	reason  string
	message string
	since   time.Time // when it was first met
	of      types.UID // the object that has it
}

// final says that to try again is of no use.
func (t *trouble) final() bool { return t.reason == reasonRefused || t.reason == reasonAutoscaled }

// decision is what to do.
type decision struct {
	set    values // what the target is to be set to; empty: nothing
	status v1alpha1.CronFederatedHPAStatus
	news   []record // what the status says that it did not say before, the newest last
	retry  bool     // something is due that could not be done
	wake   time.Time
}

// decide says what to do now. It takes for granted that what it wants set will
// be set; if that fails, it is asked again, and told of the trouble.
func decide(in situation) decision {
	histories, left := in.resume()
	runs := in.due(histories)
	var d decision
	if t := in.hindrance(); t != nil {
		d.wake = in.hold(runs, t)
		d.retry = !d.wake.IsZero()
	} else {
		d.set = in.do(runs)
	}
	d.news = newsOf(histories, left)
	d.status = in.status(histories, d.news)
	for _, h := range histories {
		if next := h.next(); next.After(in.now) {
			d.wake = earliest(d.wake, next)
		}
	}
	if t := in.target.trouble; t != nil && !t.final() {
		d.wake = earliest(d.wake, in.now.Add(lookAgain))
	}
	return d
}

// resume opens the history of each rule. Those of rules that are no more are
// left behind, but for runs that were due.
func (in *situation) resume() (histories []*history, left []record) {
	stored := map[string]v1alpha1.ExecutionHistory{}
	for i := range in.object.Status.ExecutionHistories {
		entry := &in.object.Status.ExecutionHistories[i]
		stored[entry.RuleName] = *entry.DeepCopy()
	}
	for _, r := range in.rules {
		h := &history{rule: r, stored: stored[r.spec.Name]}
		h.stored.RuleName = r.spec.Name
		h.resume(in.since(), in.now)
		histories = append(histories, h)
		delete(stored, r.spec.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if h := (&history{stored: stored[name]}); h.overdue(in.now) {
			left = append(left, record{rule: name, result: missed, at: h.next(), message: "not run: the rule was removed or renamed before the controller came to it"})
		}
	}
	return histories, left
}

// since is from when on rules run that we have not seen before. Those of a new
// object begin with it, though we come to it later.
func (in *situation) since() time.Time {
	if in.firstSight() {
		return in.object.CreationTimestamp.Time
	}
	return in.now
}

// firstSight says that the object is new to us, and still as it was created.
func (in *situation) firstSight() bool {
	status := &in.object.Status
	return status.ObservedGeneration == nil && len(status.ExecutionHistories) == 0 &&
		in.object.Generation <= 1 && !in.object.CreationTimestamp.IsZero() && in.object.CreationTimestamp.Time.Before(in.now)
}

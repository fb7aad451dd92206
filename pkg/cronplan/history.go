// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

const (
	// maxCounted is up to how many missed runs are counted; counting costs time.
	maxCounted = 1000
	// maxMessage is how much of a message is kept, in bytes: so much that it
	// goes with the name of a rule into an Event, which takes 1024, and that the
	// longest histories go into one object.
	maxMessage = 600
	// maxCondition is the same for a condition, which may speak of all rules.
	maxCondition = 4096
)

// Result is what became of a run. It is also a label of a metric.
type Result string

// All results there are.
const (
	Succeeded  Result = "succeeded"
	Failed     Result = "failed"
	Superseded Result = "superseded" // another run, due at the same time, set the same
	Missed     Result = "missed"     // nobody was there in time
)

// Record is one line of a history.
type Record struct {
	Rule    string
	Result  Result
	At      time.Time // of the schedule
	Applied Values
	Message string // "" if it succeeded
}

// history is what is known of one rule, and what is new about it.
type history struct {
	rule   rule
	stored v1alpha1.ExecutionHistory // as it is to be stored
	news   []Record                  // the newest last
}

// next returns when the rule runs next, or zero.
func (h *history) next() time.Time { return timeOf(h.stored.NextExecutionTime) }

// overdue reports whether a run which we were to do has come. Other controllers store
// no hash.
func (h *history) overdue(now time.Time) bool {
	next := h.next()
	return h.stored.ScheduleHash != "" && !next.IsZero() && !next.After(now)
}

// note adds a line. What is noted is dealt with.
func (h *history) note(r Record) {
	r.Rule = h.rule.spec.Name
	r.Message = Brief(r.Message)
	h.news = append(h.news, r)
	h.stored.LastScheduleTime = stamp(r.At)
}

// Brief is a message that goes into a history, and with the name of a rule into
// an Event.
func Brief(message string) string { return brief(message, maxMessage) }

// brief is a message of no more than so many bytes, except for a few dots. It may be a member's: of what is not printable only lines and
// columns stay.
func brief(message string, most int) string {
	message = fleet.PrintableLines(message)
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + " ..."
}

// resume brings what is stored up to the rule as it is now. A rule that is new,
// was changed or was suspended has its first run after since.
func (h *history) resume(since, now time.Time) {
	changed := h.stored.ScheduleHash != h.rule.hash
	if h.overdue(now) {
		switch {
		case changed:
			h.note(Record{Result: Missed, At: h.next(), Message: "not run: schedule or timeZone was changed before it could run"})
		case h.rule.Fault != "":
			h.note(Record{Result: Missed, At: h.next(), Message: "not run: " + h.rule.Fault})
		case !h.rule.runs():
			h.note(Record{Result: Missed, At: h.next(), Message: "not run: the rule was suspended before it could run"})
		}
	}
	h.stored.ScheduleHash, h.stored.TimeZone = h.rule.hash, h.rule.Zone
	begins := changed || h.next().IsZero()
	// Should the clock have been set back, what ran then does not hold up a rule
	// that begins again. People have no other way to get over a clock gone wrong.
	if changed || begins && timeOf(h.stored.LastScheduleTime).After(now) {
		h.stored.LastScheduleTime = nil
	}
	switch {
	case !h.rule.runs():
		h.stored.NextExecutionTime = nil
	case begins:
		h.stored.NextExecutionTime = stamp(h.rule.Schedule.Next(since))
	}
}

// remember takes what is stored for ours although its hash was dropped, if the time that is left of it is one of the rule's.
func (h *history) remember() {
	if next := h.next(); h.rule.Fault == "" && !next.IsZero() && h.rule.Schedule.Between(next.Add(-time.Second), next, 1).Count > 0 {
		h.stored.ScheduleHash = h.rule.hash
	}
}

// due returns the run that has to be done now, if any: the latest that has
// come. Those before it are noted as missed for this cause.
func (h *history) due(now time.Time, cause string) (run, bool) {
	next := h.next()
	if next.IsZero() {
		return run{}, false
	}
	before := next.Add(-time.Second) // runs are whole minutes apart
	come := h.rule.Schedule.Between(before, now, maxCounted)
	if come.Count == 0 {
		h.await(now) // not yet; or the zone's rules have changed since next was computed
		return run{}, false
	}
	if come.Last.After(come.First) {
		lost := h.rule.Schedule.Between(before, come.Last.Add(-time.Second), maxCounted)
		h.note(Record{Result: Missed, At: lost.Last, Message: lose(lost, cause)})
	}
	h.stored.NextExecutionTime = stamp(come.Last)
	return run{of: h, at: come.Last}, true
}

// lose tells of missed runs.
func lose(runs schedule.Runs, cause string) string {
	first, last := runs.First.Format(time.RFC3339), runs.Last.Format(time.RFC3339)
	switch {
	case runs.More:
		return fmt.Sprintf("missed more than %d executions from %s to %s: %s", runs.Count, first, last, cause)
	case runs.Count == 1:
		return fmt.Sprintf("missed 1 execution, at %s: %s", first, cause)
	}
	return fmt.Sprintf("missed %d executions from %s to %s: %s", runs.Count, first, last, cause)
}

// close records the result of a run, and finds the next one.
func (h *history) close(r Record, now time.Time) {
	h.note(r)
	h.await(now)
}

// await waits for the first run that is neither past nor dealt with: the clock
// may have been set back.
func (h *history) await(now time.Time) {
	h.stored.NextExecutionTime = stamp(h.rule.Schedule.Next(latest(now, timeOf(h.stored.LastScheduleTime))))
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// stamp is a time as the status keeps it: in whole seconds.
func stamp(t time.Time) *metav1.Time { return &metav1.Time{Time: t.UTC().Truncate(time.Second)} }

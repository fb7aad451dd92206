// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// runKey is a run: a minute of a rule.
type runKey struct {
	rule string
	at   int64 // Unix seconds
}

// ledger is all that was ever stored of runs, though the status forgets.
type ledger struct {
	open     bool                     // the target was set, and no run was recorded since
	byRun    map[runKey]int           // how often it was recorded, ranges of missed runs apart
	good     map[runKey]time.Duration // those that succeeded, and how late
	beaten   map[runKey]runKey        // superseded runs, and by which
	latest   []runKey                 // the last that succeeded together
	batches  int                      // how often any did
	gone     []span                   // ranges of missed runs
	seen     map[string]int           // lines, by how often one status said them
	messages map[string]int           // of failures, without quotes and figures
}

type span struct {
	rule        string
	first, last int64
}

var (
	supersededBy = regexp.MustCompile(`^superseded by rule "(.+)", scheduled at (\S+)$`)
	missedRange  = regexp.MustCompile(`^missed (?:1 execution, at|(?:more than )?\d+ executions from) (\S+?)(?: to (\S+?))?: `)
)

// read takes up what a status says that none before it said.
func (l *ledger) read(t testing.TB, object *v1alpha1.CronFederatedHPA) {
	if l.seen == nil {
		l.seen, l.messages = map[string]int{}, map[string]int{}
		l.good, l.beaten = map[runKey]time.Duration{}, map[runKey]runKey{}
	}
	here := map[string]int{}
	var together []runKey
	defer func() {
		if len(together) > 0 {
			l.latest, l.batches, l.open = together, l.batches+1, false
		}
	}()
	for _, e := range object.Status.ExecutionHistories {
		for _, s := range e.SuccessfulExecutions {
			if l.isNew(here, fmt.Sprint(e.RuleName, s.ScheduleTime.Unix(), s.ExecutionTime.Unix())) {
				k := runKey{e.RuleName, s.ScheduleTime.Unix()}
				l.byRun[k]++
				l.good[k] = s.ExecutionTime.Sub(s.ScheduleTime.Time)
				together = append(together, k)
			}
		}
		for _, f := range e.FailedExecutions {
			if !l.isNew(here, fmt.Sprint(e.RuleName, f.ScheduleTime.Unix(), f.ExecutionTime.Unix(), f.Message)) {
				continue
			}
			l.messages[strings.Fields(f.Message)[0]]++
			if by := supersededBy.FindStringSubmatch(f.Message); by != nil {
				l.beaten[runKey{e.RuleName, f.ScheduleTime.Unix()}] = runKey{by[1], unix(t, by[2])}
			}
			found := missedRange.FindStringSubmatch(f.Message)
			if found == nil {
				l.byRun[runKey{e.RuleName, f.ScheduleTime.Unix()}]++
				continue
			}
			first := unix(t, found[1])
			l.gone = append(l.gone, span{e.RuleName, first, max(first, unix(t, found[2]))})
		}
	}
}

// isNew reports whether a line of the status in hand, of which here counts what was
// read before, was said by no status before it. If one run is recorded twice in
// one second, the two lines are the same.
func (l *ledger) isNew(here map[string]int, line string) bool {
	here[line]++
	if here[line] <= l.seen[line] {
		return false
	}
	l.seen[line] = here[line]
	return true
}

func unix(t testing.TB, text string) int64 {
	if text == "" {
		return 0
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatalf("a message has no time: %v", err)
	}
	return at.Unix()
}

// times returns how often a run is recorded.
func (l *ledger) times(k runKey) int {
	n := l.byRun[k]
	for _, s := range l.gone {
		if s.rule == k.rule && s.first <= k.at && k.at <= s.last {
			n++
		}
	}
	return n
}

// dumb is a rule as a child would read it: by reading the clock on the wall
// each minute.
type dumb struct {
	spec   ruleSpec
	zone   string
	show   func(wall time.Time) bool
	asleep bool // suspended
}

// wallClock finds the minutes at which rules run. It only ever goes forward.
type wallClock struct {
	zone  *time.Location
	shown time.Time // the latest that the wall clock ever showed, as if in UTC
}

// tick reports whether a rule runs at this minute: the wall clock shows one that
// it never showed, and that or one that it skipped is the rule's.
func (w *wallClock) tick(at time.Time, show func(wall time.Time) bool) bool {
	l := at.In(w.zone)
	now := time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	if w.shown.IsZero() {
		w.shown = now.Add(-time.Minute)
	}
	runs := false
	for w.shown.Before(now) {
		w.shown = w.shown.Add(time.Minute)
		runs = runs || show(w.shown)
	}
	return runs
}

func dumbRules() []dumb {
	daily := func(hour, minute int) func(time.Time) bool {
		return func(w time.Time) bool { return w.Hour() == hour && w.Minute() == minute }
	}
	return []dumb{
		{spec: sets("often", "*/7 * * * *", 1), zone: "UTC", show: func(w time.Time) bool { return w.Minute()%7 == 0 }},
		{spec: sets("night", "30 2 * * *", 2), zone: "America/New_York", show: daily(2, 30)},
		{spec: sets("back", "30 1 * * *", 3), zone: "America/New_York", show: daily(1, 30)},
		{spec: sets("hours", "0 */3 * * *", 4), zone: "Asia/Shanghai",
			show: func(w time.Time) bool { return w.Minute() == 0 && w.Hour()%3 == 0 }},
		{spec: sets("work", "15,45 9-17 * * mon-fri", 5), zone: "Australia/Lord_Howe", show: func(w time.Time) bool {
			return (w.Minute() == 15 || w.Minute() == 45) && w.Hour() >= 9 && w.Hour() <= 17 && w.Weekday() != time.Saturday &&
				w.Weekday() != time.Sunday
		}},
		{spec: sets("sunday", "0 0 * * 0", 6), zone: "Africa/Cairo", show: func(w time.Time) bool {
			return w.Weekday() == time.Sunday &&
				w.Hour() == 0 && w.Minute() == 0
		}},
		{spec: sets("same", "0 */3 * * *", 7), zone: "Asia/Shanghai", show: func(w time.Time) bool { return w.Minute() == 0 && w.Hour()%3 == 0 }},
	}
}

// number returns what a rule sets.
func number(rule *ruleSpec) *int32 { return cmp.Or(rule.TargetReplicas, rule.TargetMaxReplicas) }

// ofAutoscaler makes rules set maxReplicas.
func ofAutoscaler(rules []dumb) []dumb {
	for i := range rules {
		spec := &rules[i].spec
		spec.TargetReplicas, spec.TargetMaxReplicas = nil, spec.TargetReplicas
	}
	return rules
}

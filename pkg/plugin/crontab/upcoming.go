// SPDX-License-Identifier: Apache-2.0

package crontab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// Run is one run of a rule, or why it has none.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Rule      string `json:"rule"`
	// At is in the rule's zone; nil: it does not run.
	At *time.Time `json:"at,omitempty"`
	// Local is the same moment where the person is.
	Local  *time.Time `json:"local,omitempty"`
	Zone   string     `json:"timeZone"`
	Sets   string     `json:"sets"`
	Target string     `json:"target"`
	Notes  []string   `json:"notes,omitempty"`
}

// Span is which runs are told.
type Span struct {
	Now time.Time
	// Until is the last moment that counts; zero: there is none.
	Until time.Time
	// Count is how many runs of each rule are told, 1 or more.
	Count int
	// Local is the zone of the person.
	Local *time.Location
}

// holds reports whether a moment counts.
func (s Span) holds(at time.Time) bool { return s.Until.IsZero() || !at.After(s.Until) }

// Upcoming returns the next runs of all rules in the order of time; rules that do not run come last.
func Upcoming(objects []*v1alpha1.CronFederatedHPA, span Span) []Run {
	runs := []Run{}
	for _, object := range objects {
		for i := range object.Spec.Rules {
			runs = append(runs, ofRule(object, &object.Spec.Rules[i], span)...)
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int {
		if a.At == nil || b.At == nil {
			return cmp.Compare(order(a.At), order(b.At))
		}
		return a.At.Compare(*b.At)
	})
	return runs
}

func order(at *time.Time) int {
	if at == nil {
		return 1
	}
	return 0
}

func ofRule(object *v1alpha1.CronFederatedHPA, rule *v1alpha1.CronFederatedHPARule, span Span) []Run {
	var notes []string
	zone, assumed := cronplan.ZoneOf(object, rule)
	if assumed {
		notes = []string{"no timeZone, and no controller has said one yet: " + zone + " is assumed"}
	}
	base := Run{
		Namespace: object.Namespace, Name: object.Name, Rule: rule.GivenName(), Zone: zone, Notes: notes,
		Sets: cronplan.Values{cronplan.Replicas: rule.TargetReplicas, cronplan.MinReplicas: rule.TargetMinReplicas,
			cronplan.MaxReplicas: rule.TargetMaxReplicas}.String(),
		Target: object.Spec.ScaleTargetRef.Kind + "/" + object.Spec.ScaleTargetRef.Name,
	}
	read := cronplan.ReadTimetable(rule.Schedule, zone, schedule.LoadZone)
	switch {
	case read.Fault != "":
		return []Run{base.without(read.Fault)}
	case ptr.Deref(rule.Suspend, false):
		return []Run{base.without("suspended")}
	}
	var runs []Run
	for at := read.Schedule.Next(span.Now); len(runs) < span.Count && span.holds(at); at = read.Schedule.Next(at) {
		run, local := base, at.In(span.Local)
		run.At, run.Local = &at, &local
		if note := clockChange(at); note != "" {
			run.Notes = append(slices.Clone(run.Notes), note)
		}
		runs = append(runs, run)
	}
	return runs
}

// without is a rule that does not run.
func (r Run) without(why string) Run {
	r.Notes = append(slices.Clone(r.Notes), why)
	return r
}

// clockChange says what the change of clocks does to a run; "" if it does nothing. A minute that comes twice runs the first time,
// and one that is skipped when clocks are set forward.
func clockChange(at time.Time) string {
	begin, end := at.ZoneBounds()
	_, offset := at.Zone()
	if !begin.IsZero() && begin.Equal(at) {
		if _, before := begin.Add(-time.Second).Zone(); before < offset {
			return fmt.Sprintf("clocks are set forward by %s then: what was due in the time that is skipped runs now",
				duration.HumanDuration(time.Duration(offset-before)*time.Second))
		}
	}
	if !end.IsZero() && end.After(at) {
		_, after := end.Zone()
		back := time.Duration(offset-after) * time.Second
		if back > 0 && !at.Before(end.Add(-back)) {
			return fmt.Sprintf("clocks are set back by %s at %s: this time comes twice, and the rule runs the first time",
				duration.HumanDuration(back),
				end.In(at.Location()).Add(back).Format("15:04"))
		}
	}
	return ""
}

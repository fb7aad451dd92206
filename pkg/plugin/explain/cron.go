// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// due is a run of a rule that is to come.
type due struct {
	rule *v1alpha1.CronFederatedHPARule
	at   time.Time // zero: never
	why  string    // it does not run
}

// cron is what will set the target next, by its spec and what it has, and what did so last.
func cron(o *v1alpha1.CronFederatedHPA, target cronplan.Target, now time.Time) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "CronFederatedHPA %s/%s sets %s %s\n", o.Namespace, o.Name, o.Spec.ScaleTargetRef.Kind, o.Spec.ScaleTargetRef.Name)
	all := make([]due, 0, len(o.Spec.Rules))
	for i := range o.Spec.Rules {
		all = append(all, nextOf(o, &o.Spec.Rules[i], now))
	}
	slices.SortStableFunc(all, func(a, b due) int {
		if a.at.IsZero() != b.at.IsZero() {
			return map[bool]int{true: 1, false: -1}[a.at.IsZero()]
		}
		return a.at.Compare(b.at)
	})
	comes(b, o, target, now)
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "    RULE\tNEXT\tSCHEDULE\tTIME ZONE\tSETS\tLAST")
	for _, d := range all {
		next := d.why
		if !d.at.IsZero() {
			next = d.at.Format(time.RFC3339)
		}
		zone, _ := cronplan.ZoneOf(o, d.rule)
		_, _ = fmt.Fprintf(t, "    %s\t%s\t%s\t%s\t%s\t%s\n", told(d.rule.GivenName()), told(next), told(d.rule.Schedule),
			told(zone), sets(d.rule), last(o, d.rule))
	}
	_ = t.Flush()
	for _, c := range o.Status.Conditions {
		if wrong := (c.Type == v1alpha1.CronConflicting) == (c.Status == metav1.ConditionTrue); wrong && c.Status != metav1.ConditionUnknown {
			fmt.Fprintf(b, "  %s is %s, %s: %s\n", told(c.Type), c.Status, told(c.Reason), told(c.Message))
		}
	}
	return b.String()
}

// comes says what will set the target next, and which of the rules that run then decides on what.
func comes(b *strings.Builder, o *v1alpha1.CronFederatedHPA, target cronplan.Target, now time.Time) {
	o = o.DeepCopy()
	v1alpha1.DefaultCronFederatedHPA(o)
	in := cronplan.Situation{Object: o, Now: now, Target: target}
	for i := range o.Spec.Rules {
		zone, _ := cronplan.ZoneOf(o, &o.Spec.Rules[i])
		in.Timetables = append(in.Timetables, cronplan.ReadTimetable(o.Spec.Rules[i].Schedule, zone, schedule.LoadZone))
	}
	next := cronplan.Next(in)
	switch {
	case next.At.IsZero():
		b.WriteString("  nothing will set it: no rule runs\n")
		return
	case !next.At.After(now):
		fmt.Fprintf(b, "  due since %s, and not done yet:\n", next.At.Format(time.RFC3339))
	default:
		fmt.Fprintf(b, "  next: %s\n", ago(next.At, now))
	}
	for _, run := range next.Runs {
		switch {
		case run.Misfit != "":
			fmt.Fprintf(b, "    rule %s cannot be: %s\n", told(run.Rule), told(run.Misfit))
		case run.By != "":
			fmt.Fprintf(b, "    rule %s sets nothing: rule %s, which comes after it, sets the same\n", told(run.Rule), told(run.By))
		default:
			fmt.Fprintf(b, "    rule %s sets %s\n", told(run.Rule), run.Applied)
		}
	}
	switch {
	case target.Trouble != nil:
		fmt.Fprintf(b, "  what %s %s has now is not known: %s\n",
			o.Spec.ScaleTargetRef.Kind, o.Spec.ScaleTargetRef.Name, told(target.Trouble.Message))
	case target.Has.Empty():
	case next.Sets.Empty():
		fmt.Fprintf(b, "  it has %s, so nothing changes\n", target.Has)
	default:
		fmt.Fprintf(b, "  it has %s, and gets %s\n", target.Has, next.Sets)
	}
}

func historyOf(o *v1alpha1.CronFederatedHPA, r *v1alpha1.CronFederatedHPARule) *v1alpha1.ExecutionHistory {
	for i := range o.Status.ExecutionHistories {
		if h := &o.Status.ExecutionHistories[i]; h.RuleName == r.GivenName() {
			return h
		}
	}
	return nil
}

func nextOf(o *v1alpha1.CronFederatedHPA, r *v1alpha1.CronFederatedHPARule, now time.Time) due {
	zone, _ := cronplan.ZoneOf(o, r)
	read := cronplan.ReadTimetable(r.Schedule, zone, schedule.LoadZone)
	switch {
	case read.Fault != "":
		return due{rule: r, why: read.Fault}
	case ptr.Deref(r.Suspend, false):
		return due{rule: r, why: "suspended"}
	}
	return due{rule: r, at: read.Schedule.Next(now)}
}

func sets(r *v1alpha1.CronFederatedHPARule) string {
	var all []string
	for _, v := range []struct {
		name  string
		value *int32
	}{{"replicas", r.TargetReplicas}, {"minReplicas", r.TargetMinReplicas}, {"maxReplicas", r.TargetMaxReplicas}} {
		if v.value != nil {
			all = append(all, fmt.Sprintf("%s %d", v.name, *v.value))
		}
	}
	return strings.Join(all, ", ")
}

// last is what came of the rule's last run.
func last(o *v1alpha1.CronFederatedHPA, r *v1alpha1.CronFederatedHPARule) string {
	h := historyOf(o, r)
	if h == nil {
		return "never"
	}
	result, at := "never", time.Time{}
	for _, s := range h.SuccessfulExecutions {
		if s.ScheduleTime.After(at) {
			result, at = "succeeded "+s.ScheduleTime.Format(time.RFC3339), s.ScheduleTime.Time
		}
	}
	for _, f := range h.FailedExecutions {
		if f.ScheduleTime.After(at) {
			result, at = "failed "+f.ScheduleTime.Format(time.RFC3339)+": "+told(f.Message), f.ScheduleTime.Time
		}
	}
	return result
}

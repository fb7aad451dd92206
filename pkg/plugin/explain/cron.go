// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// due is a run of a rule that is to come.
type due struct {
	rule *v1alpha1.CronFederatedHPARule
	at   time.Time // zero: never
	why  string    // it does not run
}

// cron is what will set the target next, and what did so last.
func cron(o *v1alpha1.CronFederatedHPA, now time.Time) string {
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
	if len(all) == 0 || all[0].at.IsZero() {
		b.WriteString("  nothing will set it: no rule runs\n")
	} else {
		same := 0
		for _, d := range all {
			if d.at.Equal(all[0].at) {
				same++
			}
		}
		fmt.Fprintf(b, "  next: rule %s, %s, sets %s\n", told(all[0].rule.GivenName()), ago(all[0].at, now),
			sets(all[0].rule))
		if same > 1 {
			fmt.Fprintf(b, "  %d rules run then: of each value the one that is later in spec.rules wins\n", same)
		}
	}
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "    RULE\tNEXT\tSCHEDULE\tTIME ZONE\tSETS\tLAST")
	for _, d := range all {
		next := d.why
		if !d.at.IsZero() {
			next = d.at.Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(t, "    %s\t%s\t%s\t%s\t%s\t%s\n", told(d.rule.GivenName()), told(next), told(d.rule.Schedule),
			told(zoneOf(o, d.rule)), sets(d.rule), last(o, d.rule))
	}
	_ = t.Flush()
	return b.String()
}

// zoneOf is that of the rule, or the controller's, as its status has it.
func zoneOf(o *v1alpha1.CronFederatedHPA, r *v1alpha1.CronFederatedHPARule) string {
	if r.TimeZone != nil {
		return *r.TimeZone
	}
	if h := historyOf(o, r); h != nil && h.TimeZone != "" {
		return h.TimeZone
	}
	return "UTC"
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
	if ptr.Deref(r.Suspend, false) {
		return due{rule: r, why: "suspended"}
	}
	zone, err := schedule.LoadZone(zoneOf(o, r))
	if err != nil {
		return due{rule: r, why: "time zone: " + err.Error()}
	}
	s, err := schedule.Parse(r.Schedule, zone)
	if err != nil {
		return due{rule: r, why: "schedule: " + err.Error()}
	}
	return due{rule: r, at: s.Next(now)}
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

// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Coming is what will set a target next, for people.
type Coming struct {
	// At is when; zero: no rule runs. Where it has come already, the runs are still to be done.
	At time.Time
	// Runs are those of that time, in the order in which they are done.
	Runs []ComingRun
	// Sets is what the target gets that it does not have.
	Sets Values
}

// ComingRun is one run that is to come.
type ComingRun struct {
	Rule string
	// Applied is what the target has from this run in the end. Empty: By sets all of it again, or Misfit says why the run cannot be.
	Applied Values
	By      string
	Misfit  string
}

// Next returns what comes next of all rules, if nothing is changed until then and nothing is in the way.
func Next(in Situation) Coming {
	rules, _ := in.rules()
	histories, _ := in.resume(rules)
	first := soonest(histories)
	if first == nil {
		return Coming{}
	}
	coming := Coming{At: first.next()}
	var runs []run
	if !coming.At.After(in.Now) {
		runs = in.due(histories)
	}
	for _, h := range histories {
		if coming.At.After(in.Now) && h.next().Equal(coming.At) {
			runs = append(runs, run{of: h, at: coming.At})
		}
	}
	wanted, outcomes := settle(in.Target.Has, in.Target.MayHaveNone, runs)
	coming.Sets = wanted.without(in.Target.Has)
	for _, o := range outcomes {
		is := ComingRun{Rule: o.of.rule.spec.Name, Applied: o.applied, Misfit: o.misfit}
		if o.by != nil {
			is.By = o.by.of.rule.spec.Name
		}
		coming.Runs = append(coming.Runs, is)
	}
	return coming
}

// FallbackZone is the zone of rules that name none where no controller has said another: it is that of deploy/.
const FallbackZone = "UTC"

// ZoneOf is the rule's zone: its own, or that in which the controller says that it reads it. It is assumed where neither is said.
func ZoneOf(object *v1alpha1.CronFederatedHPA, rule *v1alpha1.CronFederatedHPARule) (zone string, assumed bool) {
	if zone := ptr.Deref(rule.TimeZone, ""); zone != "" {
		return zone, false
	}
	for i := range object.Status.ExecutionHistories {
		if e := &object.Status.ExecutionHistories[i]; e.RuleName == rule.GivenName() && e.TimeZone != "" {
			return e.TimeZone, false
		}
	}
	return FallbackZone, true
}

// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// Timetable is a rule's schedule in its zone.
type Timetable struct {
	Schedule schedule.Schedule
	Location *time.Location
	Zone     string
	// Fault is why there is no schedule, for the one who wrote the rule; or "".
	Fault string
}

// ReadTimetable reads a schedule in a zone. To do so costs more than all else
// when there is nothing to do, so what has no fault is worth keeping.
func ReadTimetable(expression, zone string, load func(zone string) (*time.Location, error)) Timetable {
	read := Timetable{Zone: zone}
	var err error
	if read.Location, err = load(zone); err != nil {
		read.Fault = fmt.Sprintf("timeZone %q %v", zone, err)
	} else if read.Schedule, err = schedule.Parse(expression, read.Location); err != nil {
		read.Fault = fmt.Sprintf("schedule %q: %v", expression, err)
	}
	return read
}

// rule is one of an object's rules, read.
type rule struct {
	Timetable // with a fault, the rule cannot run
	spec      *v1alpha1.CronFederatedHPARule
	// hash stands for schedule and zone: with another one it is another rule.
	hash string
}

// rules reads the rules of the object. Admission lets none pass that has a
// fault, but admission may have been off. A rule without a name of its own is
// left out, for its history could not be told from another's.
func (in *Situation) rules() (rules []rule, faults []string) {
	bounds := TargetsAutoscaler(in.Object)
	names := map[string]bool{"": true}
	for i := range in.Object.Spec.Rules {
		r := readRule(&in.Object.Spec.Rules[i], in.Timetables[i])
		if r.Fault == "" {
			r.Fault = lacking(valuesOf(r.spec), bounds)
		}
		if names[r.spec.Name] {
			faults = append(faults, fmt.Sprintf("spec.rules[%d] has no unique name", i))
			continue
		}
		if r.Fault != "" {
			faults = append(faults, fmt.Sprintf("rule %q: %s", r.spec.Name, r.Fault))
		}
		names[r.spec.Name] = true
		rules = append(rules, r)
	}
	return rules, faults
}

// lacking returns what a rule should set and does not, or "".
func lacking(set Values, bounds bool) string {
	switch {
	case bounds && set[MinReplicas] == nil && set[MaxReplicas] == nil:
		return "targetMinReplicas, targetMaxReplicas or both must be set"
	case !bounds && set[Replicas] == nil:
		return "targetReplicas must be set"
	}
	return ""
}

func readRule(spec *v1alpha1.CronFederatedHPARule, read Timetable) rule {
	if read.Fault != "" {
		return rule{spec: spec, Timetable: read}
	}
	return rule{spec: spec, Timetable: read, hash: hashOf(spec.Schedule, read.Zone)}
}

// runs reports whether the rule is to run at all.
func (r *rule) runs() bool { return r.Fault == "" && !*r.spec.Suspend }

// tardiness returns how late a run may still begin. Zero: any time.
func (r *rule) tardiness() time.Duration {
	if r.spec.MaxDelaySeconds == nil {
		return 0
	}
	return time.Duration(*r.spec.MaxDelaySeconds) * time.Second
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

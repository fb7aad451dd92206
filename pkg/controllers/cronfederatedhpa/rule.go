// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// rule is one of an object's rules, read.
type rule struct {
	timetable
	spec  *v1alpha1.CronFederatedHPARule
	index int // among the object's rules
	// hash stands for schedule and zone: with another one it is another rule.
	hash string
	// fault is why the rule can not run, for the one who wrote it; or "".
	fault string
}

// readRules reads the rules of a defaulted object. Admission lets none pass
// that has a fault, but admission may have been off. A rule without a name of
// its own is left out, for its history could not be told from another's.
func readRules(object *v1alpha1.CronFederatedHPA, timetables *schedules) (rules []rule, faults []string) {
	bounds := targetsFederatedHPA(object)
	names := map[string]bool{"": true}
	for i := range object.Spec.Rules {
		r := readRule(&object.Spec.Rules[i], timetables)
		r.index = i
		if r.fault == "" {
			r.fault = lacking(valuesOf(r.spec), bounds)
		}
		if names[r.spec.Name] {
			faults = append(faults, fmt.Sprintf("spec.rules[%d] has no name of its own", i))
			continue
		}
		if r.fault != "" {
			faults = append(faults, fmt.Sprintf("rule %q: %s", r.spec.Name, r.fault))
		}
		names[r.spec.Name] = true
		rules = append(rules, r)
	}
	return rules, faults
}

// lacking says what a rule should set and does not, or "".
func lacking(set values, bounds bool) string {
	switch {
	case bounds && set[minReplicas] == nil && set[maxReplicas] == nil:
		return "targetMinReplicas, targetMaxReplicas or both must be set"
	case !bounds && set[replicas] == nil:
		return "targetReplicas must be set"
	}
	return ""
}

func readRule(spec *v1alpha1.CronFederatedHPARule, timetables *schedules) rule {
	read, err := timetables.of(spec.Schedule, spec.TimeZone)
	if err != nil {
		return rule{spec: spec, timetable: read, fault: err.Error()}
	}
	return rule{spec: spec, timetable: read, hash: hashOf(spec.Schedule, read.zone)}
}

// runs says whether the rule is to run at all.
func (r *rule) runs() bool { return r.fault == "" && !*r.spec.Suspend }

// tardiness is how late a run may still begin. Zero: any time.
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

func targetsFederatedHPA(object *v1alpha1.CronFederatedHPA) bool {
	ref := object.Spec.ScaleTargetRef
	return ref.Kind == v1alpha1.FederatedHPAKind && ref.APIVersion == v1alpha1.SchemeGroupVersion.String()
}

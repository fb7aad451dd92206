// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// rule is one of an object's rules, read.
type rule struct {
	spec     *v1alpha1.CronFederatedHPARule
	index    int // among the object's rules
	schedule schedule.Schedule
	location *time.Location
	zone     string // the name of location
	// hash stands for schedule and zone: with another one it is another rule.
	hash string
	// fault is why the rule can not run, for the one who wrote it; or "".
	fault string
}

// readRules reads the rules of a defaulted object. Admission lets none pass
// that has a fault, but admission may have been off. A rule without a name of
// its own is left out, for its history could not be told from another's.
func readRules(object *v1alpha1.CronFederatedHPA, zones zoneFinder) (rules []rule, faults []string) {
	bounds := targetsFederatedHPA(object)
	names := map[string]bool{"": true}
	for i := range object.Spec.Rules {
		r := readRule(&object.Spec.Rules[i], zones)
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

// zoneFinder finds a zone by the name that a rule gives, nil for none, and says
// what it is called.
type zoneFinder func(name *string) (zone *time.Location, called string, err error)

func readRule(spec *v1alpha1.CronFederatedHPARule, zones zoneFinder) rule {
	zone, called, err := zones(spec.TimeZone)
	if err != nil {
		return rule{spec: spec, zone: called, fault: fmt.Sprintf("timeZone %q %v", called, err)}
	}
	parsed, err := schedule.Parse(spec.Schedule, zone)
	if err != nil {
		return rule{spec: spec, location: zone, zone: called, fault: fmt.Sprintf("schedule %q: %v", spec.Schedule, err)}
	}
	return rule{spec: spec, schedule: parsed, location: zone, zone: called, hash: hashOf(spec.Schedule, called)}
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

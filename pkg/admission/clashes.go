// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// clashWarnings tells of rules that run at the same times and set one field to
// different values. Of each field the rule that stands last wins.
func clashWarnings(rules []v1alpha1.CronFederatedHPARule, path *field.Path) []string {
	var warnings []string
	alike := runAlike(rules)
	for i := range rules {
		for _, f := range ruleFields() {
			last := i
			for j := i + 1; j < len(rules); j++ {
				if alike[j] == alike[i] && f.of(&rules[j]) != nil {
					last = j
				}
			}
			value, wins := f.of(&rules[i]), f.of(&rules[last])
			if alike[i] == never || value == nil || *value == *wins {
				continue
			}
			winner := rules[last].GivenName()
			warnings = append(warnings,
				fmt.Sprintf("%s: rules %q and %q run at the same times and set %s to %d and %d; %q stands last and wins: remove one of them, or "+
					"change a schedule",
					path.Index(i).Child(f.name), rules[i].GivenName(), winner, f.name, *value, *wins, winner))
		}
	}
	return warnings
}

// ruleField is one of the values that a rule may set.
type ruleField struct {
	name string
	of   func(*v1alpha1.CronFederatedHPARule) *int32
}

func ruleFields() []ruleField {
	return []ruleField{
		{"targetReplicas", func(r *v1alpha1.CronFederatedHPARule) *int32 { return r.TargetReplicas }},
		{"targetMinReplicas", func(r *v1alpha1.CronFederatedHPARule) *int32 { return r.TargetMinReplicas }},
		{"targetMaxReplicas", func(r *v1alpha1.CronFederatedHPARule) *int32 { return r.TargetMaxReplicas }},
	}
}

// never is for rules that do not run.
const never = -1

// runAlike gives rules that run at the same times the same number. It compares
// what is written: without a time zone a rule has that of the controller, which
// is not known here.
func runAlike(rules []v1alpha1.CronFederatedHPARule) []int {
	alike, times := make([]int, len(rules)), make([]schedule.Schedule, len(rules))
	for i := range rules {
		parsed, err := schedule.Parse(rules[i].Schedule, time.UTC)
		if err != nil || ptr.Deref(rules[i].Suspend, false) {
			alike[i] = never
			continue
		}
		alike[i], times[i] = i, parsed
		for j := range i {
			if alike[j] == j && times[j].Equal(parsed) && ptr.Deref(rules[j].TimeZone, "") == ptr.Deref(rules[i].TimeZone, "") {
				alike[i] = j
			}
		}
	}
	return alike
}

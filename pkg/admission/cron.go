// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

const (
	maxRules      = 32
	maxRuleName   = 32
	maxHistory    = 32
	leastMaxDelay = 10
	eitherDay     = "runs on every day that matches one of the two, the day of the month or the day of the week: write * for one of them " +
		"if that is not meant"
)

func cronRulesFaults(spec *v1alpha1.CronFederatedHPASpec, path *field.Path) field.ErrorList {
	faults := atMost(len(spec.Rules), maxRules, path)
	if len(spec.Rules) == 0 {
		faults = append(faults, field.Required(path, "must have at least one rule").WithOrigin(ruleCronRules))
	}
	seen := map[string]bool{}
	ours := meansAutoscaler(spec.ScaleTargetRef)
	for i := range spec.Rules {
		rule, at := &spec.Rules[i], path.Index(i)
		faults = append(faults, nameFaults(rule, at)...)
		if name := ruleName(rule); name != "" && seen[name] {
			faults = append(faults, field.Duplicate(at.Child("name"), name).WithOrigin(ruleRuleRepeated))
		}
		seen[ruleName(rule)] = true
		if ours {
			faults = append(faults, boundsRuleFaults(rule, spec.ScaleTargetRef.Kind, at)...)
		} else {
			faults = append(faults, replicasRuleFaults(rule, at)...)
		}
		faults = append(faults, valuesFaults(rule, at)...)
		faults = append(faults, timeFaults(rule, at)...)
	}
	return faults
}

// ruleName is the name by either word.
func ruleName(rule *v1alpha1.CronFederatedHPARule) string { return cmp.Or(rule.Name, olderName(rule)) }

func olderName(rule *v1alpha1.CronFederatedHPARule) string {
	return rule.RuleName //nolint:staticcheck // deprecated for those who write it, and read here for them
}

func nameFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	name, at := ruleName(rule), path.Child("name")
	if name == "" {
		return field.ErrorList{field.Required(at, "must be set").WithOrigin(ruleRuleName)}
	}
	faults := noLonger(name, maxRuleName, at)
	if strings.ContainsFunc(name, unicode.IsControl) {
		faults = append(faults, field.Invalid(at, name, "must have no control characters").WithOrigin(ruleRuleName))
	}
	if older := olderName(rule); older != "" && older != name {
		faults = append(faults, field.Invalid(path.Child("ruleName"), older, "must be the same as name, or be left out").WithOrigin(ruleRuleName))
	}
	return faults
}

// boundsRuleFaults is for a rule that sets an autoscaler of a kind.
func boundsRuleFaults(rule *v1alpha1.CronFederatedHPARule, kind string, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if rule.TargetMinReplicas == nil && rule.TargetMaxReplicas == nil {
		faults = append(faults, field.Required(path.Child("targetMinReplicas"),
			"must set targetMinReplicas, targetMaxReplicas or both, because the target is an autoscaler").WithOrigin(ruleCronMissing))
	}
	if rule.TargetReplicas != nil {
		faults = append(faults, field.Forbidden(path.Child("targetReplicas"),
			"may not be set, because the target is an autoscaler: set targetMinReplicas and targetMaxReplicas").WithOrigin(ruleCronForbidden))
	}
	if kind == v1alpha1.MultidimPodAutoscalerKind && zero(rule.TargetMinReplicas) {
		faults = append(faults, field.Invalid(path.Child("targetMinReplicas"), *rule.TargetMinReplicas,
			"must be 1 or more, because the target is a MultidimPodAutoscaler").WithOrigin(ruleCronZero))
	}
	return faults
}

// replicasRuleFaults is for a rule that sets a workload.
func replicasRuleFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	const forbidden = "may not be set, because the target is not an autoscaler: set targetReplicas"
	var faults field.ErrorList
	if rule.TargetReplicas == nil {
		faults = append(faults, field.Required(path.Child("targetReplicas"),
			"must be set, because the target is not an autoscaler").WithOrigin(ruleCronMissing))
	}
	if rule.TargetMinReplicas != nil {
		faults = append(faults, field.Forbidden(path.Child("targetMinReplicas"), forbidden).WithOrigin(ruleCronForbidden))
	}
	if rule.TargetMaxReplicas != nil {
		faults = append(faults, field.Forbidden(path.Child("targetMaxReplicas"), forbidden).WithOrigin(ruleCronForbidden))
	}
	return faults
}

func valuesFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	faults := within(rule.TargetReplicas, 0, math.MaxInt32, path.Child("targetReplicas"), ruleCronReplicas)
	faults = append(faults, within(rule.TargetMinReplicas, 0, math.MaxInt32, path.Child("targetMinReplicas"), ruleCronReplicas)...)
	faults = append(faults, within(rule.TargetMaxReplicas, 1, math.MaxInt32, path.Child("targetMaxReplicas"), ruleCronReplicas)...)
	if least, most := rule.TargetMinReplicas, rule.TargetMaxReplicas; least != nil && most != nil && *least > *most {
		faults = append(faults, field.Invalid(path.Child("targetMaxReplicas"), *most,
			fmt.Sprintf("must be greater than or equal to `targetMinReplicas`, which is %d", *least)).WithOrigin(ruleCronOrder))
	}
	faults = append(faults, within(rule.SuccessfulHistoryLimit, 0, maxHistory, path.Child("successfulHistoryLimit"), ruleHistoryLimit)...)
	return append(faults, within(rule.FailedHistoryLimit, 0, maxHistory, path.Child("failedHistoryLimit"), ruleHistoryLimit)...)
}

// timeFaults reads schedule and zone as the controller does.
func timeFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	zone := time.UTC
	if name := rule.TimeZone; name != nil {
		if loaded, err := schedule.LoadZone(*name); err != nil {
			faults = append(faults, field.Invalid(path.Child("timeZone"), *name, err.Error()).WithOrigin(ruleTimeZone))
		} else {
			zone = loaded
		}
	}
	parsed, err := schedule.Parse(rule.Schedule, zone)
	if err != nil {
		faults = append(faults, field.Invalid(path.Child("schedule"), rule.Schedule, err.Error()).WithOrigin(ruleSchedule))
	}
	if rule.MaxDelaySeconds == nil {
		return faults
	}
	at, delay := path.Child("maxDelaySeconds"), *rule.MaxDelaySeconds
	if delay < leastMaxDelay {
		return append(faults, field.Invalid(at, delay, between(leastMaxDelay, math.MaxInt32)).WithOrigin(ruleMaxDelay))
	}
	if err != nil {
		return faults
	}
	if period := int64(parsed.Period() / time.Second); delay >= period {
		faults = append(faults, field.Invalid(at, delay, fmt.Sprintf("must be less than %d, the shortest time between two runs",
			period)).WithOrigin(ruleMaxDelay))
	}
	return faults
}

func cronRulesWarnings(rules []v1alpha1.CronFederatedHPARule, path *field.Path) []string {
	var warnings []string
	for i := range rules {
		parsed, err := schedule.Parse(rules[i].Schedule, time.UTC)
		if err == nil && parsed.EitherDay() {
			warnings = append(warnings, fmt.Sprintf("%s: %s", path.Index(i).Child("schedule"), eitherDay))
		}
	}
	return append(warnings, clashWarnings(rules, path)...)
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
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
	faults := append(atMost(len(spec.Rules), maxRules, path),
		when(len(spec.Rules) == 0, field.Required(path, "must have at least one rule").WithOrigin(ruleCronRules))...)
	seen := map[string]bool{}
	for i := range spec.Rules {
		rule, at := &spec.Rules[i], path.Index(i)
		name := rule.GivenName()
		faults = append(faults, slices.Concat(
			nameFaults(rule, at),
			when(name != "" && seen[name], field.Duplicate(at.Child("name"), name).WithOrigin(ruleRuleRepeated)),
			aimFaults(rule, spec.ScaleTargetRef, at),
			valuesFaults(rule, at),
			timeFaults(rule, at),
		)...)
		seen[name] = true
	}
	return faults
}

func olderName(rule *v1alpha1.CronFederatedHPARule) string {
	return rule.RuleName //nolint:staticcheck // deprecated for those who write it, and read here for them
}

func nameFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	name, older, at := rule.GivenName(), olderName(rule), path.Child("name")
	if name == "" {
		return field.ErrorList{field.Required(at, "must be set").WithOrigin(ruleRuleName)}
	}
	return slices.Concat(
		noLonger(name, maxRuleName, at),
		when(strings.ContainsFunc(name, unicode.IsControl), field.Invalid(at, name,
			"must have no control characters").WithOrigin(ruleRuleName)),
		when(older != "" && older != name, field.Invalid(path.Child("ruleName"), older,
			"must be the same as name, or be left out").WithOrigin(ruleRuleName)),
	)
}

// aimFaults is for what a rule sets, of an autoscaler or of a workload.
func aimFaults(rule *v1alpha1.CronFederatedHPARule, target autoscalingv2.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	if meansAutoscaler(target) {
		return boundsRuleFaults(rule, target.Kind, path)
	}
	return replicasRuleFaults(rule, path)
}

// boundsRuleFaults is for a rule that sets an autoscaler of a kind.
func boundsRuleFaults(rule *v1alpha1.CronFederatedHPARule, kind string, path *field.Path) field.ErrorList {
	least := path.Child("targetMinReplicas")
	return slices.Concat(
		when(rule.TargetMinReplicas == nil && rule.TargetMaxReplicas == nil, field.Required(least,
			"must set targetMinReplicas, targetMaxReplicas or both, because the target is an autoscaler").WithOrigin(ruleCronMissing)),
		when(rule.TargetReplicas != nil, field.Forbidden(path.Child("targetReplicas"),
			"may not be set, because the target is an autoscaler: set targetMinReplicas and targetMaxReplicas").WithOrigin(ruleCronForbidden)),
		when(kind == v1alpha1.MultidimPodAutoscalerKind && zero(rule.TargetMinReplicas), field.Invalid(least, int32(0),
			"must be 1 or more, because the target is a MultidimPodAutoscaler").WithOrigin(ruleCronZero)),
	)
}

// replicasRuleFaults is for a rule that sets a workload.
func replicasRuleFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	const forbidden = "may not be set, because the target is not an autoscaler: set targetReplicas"
	return slices.Concat(
		when(rule.TargetReplicas == nil, field.Required(path.Child("targetReplicas"),
			"must be set, because the target is not an autoscaler").WithOrigin(ruleCronMissing)),
		when(rule.TargetMinReplicas != nil, field.Forbidden(path.Child("targetMinReplicas"), forbidden).WithOrigin(ruleCronForbidden)),
		when(rule.TargetMaxReplicas != nil, field.Forbidden(path.Child("targetMaxReplicas"), forbidden).WithOrigin(ruleCronForbidden)),
	)
}

func valuesFaults(rule *v1alpha1.CronFederatedHPARule, path *field.Path) field.ErrorList {
	most := path.Child("targetMaxReplicas")
	return slices.Concat(
		within(rule.TargetReplicas, 0, math.MaxInt32, path.Child("targetReplicas"), ruleCronReplicas),
		within(rule.TargetMinReplicas, 0, math.MaxInt32, path.Child("targetMinReplicas"), ruleCronReplicas),
		within(rule.TargetMaxReplicas, 1, math.MaxInt32, most, ruleCronReplicas),
		inOrder(rule.TargetMinReplicas, rule.TargetMaxReplicas, most, "targetMinReplicas", ruleCronOrder),
		within(rule.SuccessfulHistoryLimit, 0, maxHistory, path.Child("successfulHistoryLimit"), ruleHistoryLimit),
		within(rule.FailedHistoryLimit, 0, maxHistory, path.Child("failedHistoryLimit"), ruleHistoryLimit),
	)
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

// SPDX-License-Identifier: Apache-2.0

package speccopy

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Fields are the fields of a spec that Karmada's kind lacks, as JSON has them.
type Fields map[string]any

// Path leads to a field: the names on the way to it.
type Path []string

func (p Path) String() string { return strings.Join(p, ".") }

// Of returns the fields of an object as they are; none for kinds that Karmada does not have.
func Of(object metav1.Object) Fields {
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		return ofFederatedHPA(o.Spec)
	case *v1alpha1.CronFederatedHPA:
		return ofCron(o.Spec)
	default:
		return nil
	}
}

// ofFederatedHPA leaves out Kubernetes' part, which Karmada's kind has.
func ofFederatedHPA(spec v1alpha1.FederatedHPASpec) Fields {
	shared := reflect.TypeOf(spec.HorizontalPodAutoscalerSpec)
	spec.HorizontalPodAutoscalerSpec = v1alpha1.FederatedHPASpec{}.HorizontalPodAutoscalerSpec
	if reflect.ValueOf(&spec).Elem().IsZero() {
		return Fields{}
	}
	fields := asJSON(spec)
	for i := range shared.NumField() {
		name, _, _ := strings.Cut(shared.Field(i).Tag.Get("json"), ",")
		delete(fields, name)
	}
	return fields
}

// ofCron has the rules by their names: a list would change with each edit of another rule. That a rule is there counts as well.
func ofCron(spec v1alpha1.CronFederatedHPASpec) Fields {
	rules := map[string]any{}
	for i := range spec.Rules {
		own := asJSON(spec.Rules[i])
		maps.DeleteFunc(own, func(name string, _ any) bool { return slices.Contains(karmadasRule(), name) })
		rules[spec.Rules[i].GivenName()] = map[string]any(own)
	}
	spec.Rules = nil
	fields := asJSON(spec)
	delete(fields, "scaleTargetRef")
	fields[rulesField] = rules
	return fields
}

// karmadasRule are the fields of a rule that Karmada's kind has. The name has two words, of which admission sees to its.
func karmadasRule() []string {
	return []string{"name", "ruleName", "schedule", "targetReplicas", "targetMinReplicas", "targetMaxReplicas", "suspend", "timeZone",
		"successfulHistoryLimit", "failedHistoryLimit"}
}

// worth are the fields that a copy has: not that a rule is there.
func worth(fields Fields) Fields {
	rules, isCron := fields[rulesField].(map[string]any)
	if !isCron {
		return fields
	}
	all, own := maps.Clone(fields), map[string]any{}
	for name, rule := range rules {
		if fields, _ := rule.(map[string]any); len(fields) > 0 {
			own[name] = rule
		}
	}
	if all[rulesField] = own; len(own) == 0 {
		delete(all, rulesField)
	}
	return all
}

// rulesField are the rules of a CronFederatedHPA, by their names.
const rulesField = "rules"

// asJSON is what a struct looks like in JSON. Structs of the API can always be written.
func asJSON(value any) Fields {
	fields := Fields{}
	if text, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(text, &fields)
	}
	return fields
}

// lost are the fields that are in the copy and not in what there is, in the order of their names. Lists are one value. A rule as such,
// and a field in place of which there is one that excludes it, are not lost: no schema does that.
func lost(kept, now Fields) []Path {
	return slices.DeleteFunc(lostBelow(kept, now, nil), func(path Path) bool {
		return len(path) == 1 && renounced(path[0], now) || len(path) == 2 && path[0] == rulesField
	})
}

func lostBelow(kept, now map[string]any, at Path) (all []Path) {
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		path := append(slices.Clone(at), name)
		there, found := now[name]
		if !found {
			all = append(all, path)
			continue
		}
		within, isMap := kept[name].(map[string]any)
		if below, alike := there.(map[string]any); isMap && alike {
			all = append(all, lostBelow(within, below, path)...)
		}
	}
	return all
}

// next is the copy after a write that was admitted: what was sent, and what was lost before and is not sent either.
func next(kept, before, sent map[string]any) map[string]any {
	all := map[string]any{}
	for name, value := range sent {
		all[name] = value
		was, isMap := kept[name].(map[string]any)
		if is, alike := value.(map[string]any); isMap && alike {
			stored, _ := before[name].(map[string]any)
			all[name] = next(was, stored, is)
		}
	}
	for name, value := range kept {
		_, isSent := sent[name]
		if _, wasStored := before[name]; !isSent && !wasStored && !renounced(name, sent) {
			all[name] = value
		}
	}
	return all
}

// renounced: who sets the one of two fields that exclude each other does without the other.
func renounced(name string, sent map[string]any) bool {
	const assignment, distribution = "federatedHPAAssignment", "replicaDistribution"
	other := map[string]string{assignment: distribution, distribution: assignment}[name]
	_, found := sent[other]
	return other != "" && found
}

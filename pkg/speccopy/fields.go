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
		return ofRules(o.Spec.Rules)
	default:
		return nil
	}
}

// ofFederatedHPA leaves out Kubernetes' part, which Karmada's kind has.
func ofFederatedHPA(spec v1alpha1.FederatedHPASpec) Fields {
	shared := reflect.TypeOf(spec.HorizontalPodAutoscalerSpec)
	spec.HorizontalPodAutoscalerSpec = v1alpha1.FederatedHPASpec{}.HorizontalPodAutoscalerSpec
	fields := asJSON(spec)
	for i := range shared.NumField() {
		name, _, _ := strings.Cut(shared.Field(i).Tag.Get("json"), ",")
		delete(fields, name)
	}
	return fields
}

// ofRules has the rules by their names: a list would change with each edit of another rule. That a rule is there counts as well.
func ofRules(rules []v1alpha1.CronFederatedHPARule) Fields {
	byName := map[string]any{}
	for i := range rules {
		own := map[string]any{}
		if delay := rules[i].MaxDelaySeconds; delay != nil {
			own[maxDelay] = float64(*delay)
		}
		byName[rules[i].GivenName()] = own
	}
	return Fields{rulesField: byName}
}

// worth are the fields that a copy has: not that a rule is there.
func worth(fields Fields) Fields {
	rules, isCron := fields[rulesField].(map[string]any)
	if !isCron {
		return fields
	}
	own := map[string]any{}
	for name, rule := range rules {
		if fields, _ := rule.(map[string]any); len(fields) > 0 {
			own[name] = rule
		}
	}
	if len(own) == 0 {
		return Fields{}
	}
	return Fields{rulesField: own}
}

const (
	rulesField = "rules"
	maxDelay   = "maxDelaySeconds"
)

// asJSON is what a struct looks like in JSON. Structs of the API can always be written.
func asJSON(value any) Fields {
	fields := Fields{}
	if text, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(text, &fields)
	}
	return fields
}

// Lost are the fields that are in the copy and not in what there is, in the order of their names. Lists are one value.
func Lost(kept, now Fields) []Path { return lost(kept, now, nil) }

func lost(kept, now map[string]any, at Path) (all []Path) {
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		path := append(slices.Clone(at), name)
		there, found := now[name]
		if !found {
			all = append(all, path)
			continue
		}
		within, isMap := kept[name].(map[string]any)
		if below, alike := there.(map[string]any); isMap && alike {
			all = append(all, lost(within, below, path)...)
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

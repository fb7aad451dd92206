// SPDX-License-Identifier: Apache-2.0

package speccopy

import (
	"encoding/json"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// longest is the length of a copy, in bytes. All annotations of an object may have 256 KiB, and kubectl apply keeps the whole
// manifest in one. Of a longer one there is no copy: the object is then told to be cut by other means, and not restored.
const longest = 32 << 10

// Kept returns the copy of an object; empty: there is none, or none that can be read. Fields that this program does not know are
// left out, as they are in what [Of] returns. Who may write the object may have written anything there, past the webhook.
func Kept(object metav1.Object) Fields {
	text := object.GetAnnotations()[v1alpha1.SpecAnnotation]
	if text == "" || len(text) > longest {
		return Fields{}
	}
	switch object.(type) {
	case *v1alpha1.FederatedHPA:
		if kept := (v1alpha1.FederatedHPASpec{}); read(text, &kept) {
			return ofFederatedHPA(kept)
		}
	case *v1alpha1.CronFederatedHPA:
		if kept := (cronCopy{}); read(text, &kept) {
			return worth(ofCron(kept.spec()))
		}
	}
	return Fields{}
}

// read decodes what a stranger may have written.
func read(text string, into any) bool {
	return guard.JSON([]byte(text), into) == nil && json.Unmarshal([]byte(text), into) == nil
}

// cronCopy is the copy of a CronFederatedHPA, which has the rules by their names.
type cronCopy struct {
	v1alpha1.CronFederatedHPASpec `json:",inline"`
	Rules                         map[string]v1alpha1.CronFederatedHPARule `json:"rules"`
}

func (c cronCopy) spec() v1alpha1.CronFederatedHPASpec {
	spec := c.CronFederatedHPASpec
	for name, rule := range c.Rules {
		rule.Name = name
		spec.Rules = append(spec.Rules, rule)
	}
	return spec
}

// Keep writes the copy of an object, or takes it away where there is nothing to keep, or too much.
func Keep(object metav1.Object, fields Fields) {
	annotations := object.GetAnnotations()
	fields = worth(fields)
	text, err := json.Marshal(fields)
	if len(fields) == 0 || err != nil || len(text) > longest {
		delete(annotations, v1alpha1.SpecAnnotation)
		return
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.SpecAnnotation] = string(text)
	object.SetAnnotations(annotations)
}

// Write is what of a write is sent.
type Write struct {
	// Fields are those of the object before its defaults.
	Fields Fields
	// Owners are who owns what, as the API server knows it by then.
	Owners []metav1.ManagedFieldsEntry
}

// Sent is the write of an object without defaults.
func Sent(object metav1.Object) Write { return Write{Of(object), object.GetManagedFields()} }

// Admit writes the copy of an object that is written, which has its defaults by now. before is the object as it is stored; nil: it is
// created.
func Admit(object metav1.Object, sent Write, before metav1.Object) {
	if before == nil {
		Keep(object, Of(object))
		return
	}
	kept, stored := Kept(before), Of(before)
	forgetRules(kept, sent.Fields)
	for _, path := range lost(kept, stored) {
		if removed(before, path) || path[0] != rulesField && unowned(sent.Owners, path) {
			take(kept, path)
		}
	}
	after := Fields(next(kept, stored, sent.Fields))
	if reflect.DeepEqual(after, sent.Fields) { // nothing is lost
		after = Of(object)
	}
	Keep(object, after)
}

// forgetRules leaves out the rules that are no longer there: no schema drops one.
func forgetRules(kept, now Fields) {
	rules, _ := kept[rulesField].(map[string]any)
	there, _ := now[rulesField].(map[string]any)
	maps.DeleteFunc(rules, func(name string, _ any) bool { _, found := there[name]; return !found })
}

// Agrees reports whether the copy of an object is of what there is.
func Agrees(object metav1.Object) bool {
	now, copied := worth(Of(object)), object.GetAnnotations()[v1alpha1.SpecAnnotation]
	text, err := json.Marshal(now)
	if err != nil || len(text) > longest {
		return copied == "" // there is to be none
	}
	return copied == string(text) || reflect.DeepEqual(Kept(object), now) // the rule, or in other words
}

// Restore puts lost fields of an object back.
func Restore(object metav1.Object, lost []Path) {
	kept, whole := Kept(object), Of(object)
	for _, path := range lost {
		put(whole, kept, path)
	}
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		if spec := (v1alpha1.FederatedHPASpec{}); fill(&spec, whole) {
			spec.HorizontalPodAutoscalerSpec = o.Spec.HorizontalPodAutoscalerSpec
			o.Spec = spec
		}
	case *v1alpha1.CronFederatedHPA:
		rules, _ := whole[rulesField].(map[string]any)
		delete(whole, rulesField)
		if spec := (v1alpha1.CronFederatedHPASpec{}); fill(&spec, whole) {
			spec.ScaleTargetRef, spec.Rules = o.Spec.ScaleTargetRef, o.Spec.Rules
			o.Spec = spec
		}
		for i := range o.Spec.Rules {
			restoreRule(&o.Spec.Rules[i], rules)
		}
	}
}

func restoreRule(r *v1alpha1.CronFederatedHPARule, rules map[string]any) {
	whole := asJSON(r)
	own, _ := rules[r.GivenName()].(map[string]any)
	maps.Copy(whole, own)
	if restored := (v1alpha1.CronFederatedHPARule{}); fill(&restored, whole) {
		*r = restored
	}
}

// fill makes a struct, which has nothing yet, what it looks like in JSON.
func fill(empty any, fields map[string]any) bool {
	text, err := json.Marshal(fields)
	return err == nil && json.Unmarshal(text, empty) == nil
}

// put copies what a path leads to.
func put(to, from map[string]any, path Path) {
	value, found := from[path[0]]
	if !found {
		return
	}
	if len(path) > 1 {
		below, isMap := to[path[0]].(map[string]any)
		within, alike := value.(map[string]any)
		if isMap && alike {
			put(below, within, path[1:])
		}
		return
	}
	to[path[0]] = value
}

// take removes what a path leads to.
func take(from map[string]any, path Path) {
	if len(path) == 1 {
		delete(from, path[0])
		return
	}
	if below, is := from[path[0]].(map[string]any); is {
		take(below, path[1:])
	}
}

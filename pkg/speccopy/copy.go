// SPDX-License-Identifier: Apache-2.0

package speccopy

import (
	"encoding/json"
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
		kept := v1alpha1.FederatedHPASpec{}
		if guard.JSON([]byte(text), &kept) == nil && json.Unmarshal([]byte(text), &kept) == nil {
			return ofFederatedHPA(kept)
		}
	case *v1alpha1.CronFederatedHPA:
		if kept, err := readRules(text); err == nil {
			return worth(ofRules(kept))
		}
	}
	return Fields{}
}

func readRules(text string) (rules []v1alpha1.CronFederatedHPARule, err error) {
	var kept struct {
		Rules map[string]v1alpha1.CronFederatedHPARule `json:"rules"`
	}
	err = json.Unmarshal([]byte(text), &kept)
	for name, rule := range kept.Rules {
		rule.Name = name
		rules = append(rules, rule)
	}
	return rules, err
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

// Admit writes the copy of an object that is written, with its defaults: sent are its fields without those. before is the object as
// it is stored; nil: it is created.
func Admit(object metav1.Object, sent Fields, before metav1.Object) {
	if before == nil {
		Keep(object, Of(object))
		return
	}
	after := Fields(next(Kept(before), Of(before), sent))
	if reflect.DeepEqual(after, sent) { // nothing is lost
		after = Of(object)
	}
	Keep(object, after)
}

// Agrees reports whether the copy of an object is of what there is.
func Agrees(object metav1.Object) bool {
	now := worth(Of(object))
	if text, err := json.Marshal(now); err != nil || len(text) > longest {
		return true // there is to be none
	}
	return reflect.DeepEqual(Kept(object), now)
}

// Restore puts lost fields of an object back.
func Restore(object metav1.Object, lost []Path) {
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		restoreFederatedHPA(o, lost)
	case *v1alpha1.CronFederatedHPA:
		restoreRules(o, lost)
	}
}

func restoreFederatedHPA(f *v1alpha1.FederatedHPA, lost []Path) {
	kept, whole := Kept(f), Of(f)
	for _, path := range lost {
		put(whole, kept, path)
	}
	spec := v1alpha1.FederatedHPASpec{}
	if text, err := json.Marshal(whole); err == nil && json.Unmarshal(text, &spec) == nil {
		spec.HorizontalPodAutoscalerSpec = f.Spec.HorizontalPodAutoscalerSpec
		f.Spec = spec
	}
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

func restoreRules(c *v1alpha1.CronFederatedHPA, lost []Path) {
	rules, err := readRules(c.Annotations[v1alpha1.SpecAnnotation])
	if err != nil {
		return
	}
	kept := map[string]*int64{}
	for _, rule := range rules {
		kept[rule.Name] = rule.MaxDelaySeconds
	}
	for i := range c.Spec.Rules {
		rule := &c.Spec.Rules[i]
		for _, path := range lost {
			if len(path) == 3 && path[1] == rule.GivenName() && rule.MaxDelaySeconds == nil {
				rule.MaxDelaySeconds = kept[rule.Name]
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package pause

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// BeforeAnnotation is on a paused autoscaler, and holds what there was before, as JSON.
const BeforeAnnotation = "fleetscale.io/before-pause"

// before is its content. A field is there if a pause changed what it speaks of.
type before struct {
	// Mode is spec.mode; "" is that there was none.
	Mode *string `json:"mode,omitempty"`
	// ScaleDown is selectPolicy of scale-in; "" is that there was none.
	ScaleDown *string `json:"scaleDown,omitempty"`
	// Rules are the names of those that ran.
	Rules []string `json:"rules,omitempty"`
}

// Act is what a person wants.
type Act int

// The acts.
const (
	// Pause stops an autoscaler.
	Pause Act = iota
	// PauseScaleDown keeps it from scaling in.
	PauseScaleDown
	// Resume takes both back.
	Resume
)

// Change is what to do to an object.
type Change struct {
	// Patch is a merge patch without precondition; nil: nothing is to be changed.
	Patch map[string]any
	// Done says it in the past tense.
	Done string
}

// Plan returns what to change in an object as it was read.
func Plan(object *unstructured.Unstructured, act Act) (Change, error) {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil && owner.Kind == v1alpha1.MultidimPodAutoscalerKind {
		return Change{}, fmt.Errorf("MultidimPodAutoscaler %q made it, and would set it back: name mpa/%s", owner.Name, owner.Name)
	}
	read, err := recorded(object)
	if err != nil {
		return Change{}, err
	}
	was := inForce(object, read)
	switch {
	case object.GetKind() == v1alpha1.CronFederatedHPAKind && act == PauseScaleDown:
		return Change{}, errors.New("--scale-down: rules have no behavior; name the autoscaler whose bounds they set")
	case object.GetKind() == v1alpha1.CronFederatedHPAKind:
		return planRules(object, was, act)
	case act == Resume:
		return planResume(object, was)
	case act == PauseScaleDown:
		return planScaleDown(object, was)
	}
	return planMode(object, was)
}

// recorded reads the annotation; there may be none.
func recorded(object *unstructured.Unstructured) (before, error) {
	var was before
	text := object.GetAnnotations()[BeforeAnnotation]
	if text == "" {
		return was, nil
	}
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return was, fmt.Errorf("reading annotation %s: %w; correct it, or remove it and set the spec by hand", BeforeAnnotation, err)
	}
	return was, nil
}

// inForce is the part of what was recorded whose paused value still stands: what somebody has set since is theirs.
func inForce(object *unstructured.Unstructured, was before) before {
	if mode, _, _ := unstructured.NestedString(object.Object, "spec", "mode"); mode != string(v1alpha1.ModePaused) {
		was.Mode = nil
	}
	if selectPolicy(object) != string(autoscalingv2.DisabledPolicySelect) {
		was.ScaleDown = nil
	}
	rules, _, _ := unstructured.NestedSlice(object.Object, "spec", "rules")
	was.Rules = slices.DeleteFunc(was.Rules, func(name string) bool {
		return !slices.ContainsFunc(rules, func(each any) bool {
			rule, _ := each.(map[string]any)
			suspended, _ := rule["suspend"].(bool)
			return suspended && rule["name"] == name
		})
	})
	return was
}

// unchanged changes nothing of the spec; a resume removes a record of what is no longer in force.
func unchanged(object *unstructured.Unstructured, said string) (Change, error) {
	if _, found := object.GetAnnotations()[BeforeAnnotation]; !found {
		return Change{Done: said}, nil
	}
	return Change{Patch: map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{BeforeAnnotation: nil}},
	}, Done: said + "; the record of an earlier pause is removed"}, nil
}

// annotation is the part of a patch that keeps what was before; nothing is left of an empty one.
func annotation(was before) (any, error) {
	if was.Mode == nil && was.ScaleDown == nil && len(was.Rules) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(was)
	return string(text), err
}

func change(was before, spec map[string]any, done string) (Change, error) {
	kept, err := annotation(was)
	return Change{Patch: map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{BeforeAnnotation: kept}}, "spec": spec,
	}, Done: done}, err
}

func planMode(object *unstructured.Unstructured, was before) (Change, error) {
	mode, _, _ := unstructured.NestedString(object.Object, "spec", "mode")
	if mode == string(v1alpha1.ModePaused) {
		return Change{Done: "unchanged: it is paused already"}, nil
	}
	was.Mode = &mode
	return change(was, map[string]any{"mode": v1alpha1.ModePaused}, "paused"+inClusters(object))
}

// inClusters says what continues in distributed mode.
func inClusters(object *unstructured.Unstructured) string {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "federatedHPAAssignment", "federatedHPAAssignmentType")
	if kind == "" {
		return ""
	}
	return "; its HorizontalPodAutoscalers in the clusters go on scaling within their bounds"
}

// behaviorPath is where the behavior of a kind is.
func behaviorPath(kind string) []string {
	if kind == v1alpha1.MultidimPodAutoscalerKind {
		return []string{"constraints", "global", "behavior"}
	}
	return []string{"behavior"}
}

func selectPolicy(object *unstructured.Unstructured) string {
	path := append([]string{"spec"}, behaviorPath(object.GetKind())...)
	policy, _, _ := unstructured.NestedString(object.Object, append(path, "scaleDown", "selectPolicy")...)
	return policy
}

// setSelectPolicy is a spec in a patch; nil removes the field.
func setSelectPolicy(spec map[string]any, kind string, policy any) {
	at := spec
	for _, field := range append(behaviorPath(kind), "scaleDown") {
		below := map[string]any{}
		at[field], at = below, below
	}
	at["selectPolicy"] = policy
}

func planScaleDown(object *unstructured.Unstructured, was before) (Change, error) {
	if _, goals, _ := unstructured.NestedMap(object.Object, "spec", "goals"); !goals &&
		object.GetKind() == v1alpha1.MultidimPodAutoscalerKind {
		return Change{}, errors.New("--scale-down: it has no goals, and so scales nothing in")
	}
	policy := selectPolicy(object)
	if policy == string(autoscalingv2.DisabledPolicySelect) {
		return Change{Done: "unchanged: it does not scale in already"}, nil
	}
	was.ScaleDown = &policy
	spec := map[string]any{}
	setSelectPolicy(spec, object.GetKind(), autoscalingv2.DisabledPolicySelect)
	return change(was, spec, "scale-in paused")
}

func planResume(object *unstructured.Unstructured, was before) (Change, error) {
	spec := map[string]any{}
	var done []string
	mode, _, _ := unstructured.NestedString(object.Object, "spec", "mode")
	byHand := was.Mode == nil && was.ScaleDown == nil // then a resume can mean the mode only
	switch {
	case mode != string(v1alpha1.ModePaused):
	case was.Mode != nil && *was.Mode != "":
		spec["mode"] = *was.Mode
		done = append(done, "resumed, with mode "+*was.Mode)
	case was.Mode != nil || byHand:
		spec["mode"] = v1alpha1.ModeActive
		done = append(done, "resumed")
	}
	if was.ScaleDown != nil {
		var policy any // none
		if *was.ScaleDown != "" {
			policy = *was.ScaleDown
		}
		setSelectPolicy(spec, object.GetKind(), policy)
		done = append(done, "scale-in resumed")
	}
	if mode == string(v1alpha1.ModePaused) && spec["mode"] == nil {
		done = append(done, "its mode stays Paused, which others set: to have it act, resume it again")
	}
	if len(done) > 0 {
		return change(before{}, spec, strings.Join(done, "; "))
	}
	said := "unchanged: it is not paused"
	switch {
	case mode == string(v1alpha1.ModeObserve):
		said += ", and only observes: to have it act, set spec.mode to Active"
	case selectPolicy(object) == string(autoscalingv2.DisabledPolicySelect):
		said += " by this command; that it does not scale in is written in its behavior: change scaleDown.selectPolicy there"
	}
	return unchanged(object, said)
}

// planRules suspends the rules that run, or has those run again that a pause suspended.
func planRules(object *unstructured.Unstructured, was before, act Act) (Change, error) {
	rules, _, err := unstructured.NestedSlice(object.Object, "spec", "rules")
	if err != nil {
		return Change{}, err
	}
	var names []string
	for _, each := range rules {
		rule, _ := each.(map[string]any)
		name, _ := rule["name"].(string)
		suspended, _ := rule["suspend"].(bool)
		if rule == nil || act == Resume && (!suspended || !slices.Contains(was.Rules, name)) || act == Pause && suspended {
			continue
		}
		rule["suspend"] = act == Pause
		names = append(names, name)
	}
	switch {
	case len(names) == 0 && act == Pause:
		return Change{Done: "unchanged: all its rules are suspended already"}, nil
	case len(names) == 0:
		return unchanged(object, "unchanged: it is not paused by this command; rules that are suspended have spec.rules[].suspend")
	case act == Resume:
		return change(before{}, map[string]any{"rules": rules}, "resumed: rules "+strings.Join(names, ", "))
	}
	was.Rules = append(was.Rules, names...)
	slices.Sort(was.Rules)
	was.Rules = slices.Compact(was.Rules)
	return change(was, map[string]any{"rules": rules}, "paused: rules "+strings.Join(names, ", ")+" are suspended")
}

// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// hook is what a mutating and a validating webhook have in common.
type hook struct {
	Name, path     string
	failurePolicy  *admissionregistrationv1.FailurePolicyType
	sideEffects    *admissionregistrationv1.SideEffectClass
	timeoutSeconds *int32
	clientConfig   admissionregistrationv1.WebhookClientConfig
	rules          []admissionregistrationv1.RuleWithOperations
	conditions     []admissionregistrationv1.MatchCondition
	namespaces     *metav1.LabelSelector
}

// hooks returns those of an overlay, by their paths.
func hooks(t *testing.T, dir string) []hook {
	t.Helper()
	var all []hook
	for _, object := range build(t, dir) {
		switch c := object.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			for _, w := range c.Webhooks {
				all = append(all, hook{w.Name, *w.ClientConfig.Service.Path, w.FailurePolicy, w.SideEffects, w.TimeoutSeconds, w.ClientConfig, w.Rules,
					w.MatchConditions, w.NamespaceSelector})
				if *w.ReinvocationPolicy != admissionregistrationv1.NeverReinvocationPolicy {
					t.Errorf("%s is asked twice", w.Name)
				}
			}
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			for _, w := range c.Webhooks {
				all = append(all, hook{w.Name, *w.ClientConfig.Service.Path, w.FailurePolicy, w.SideEffects, w.TimeoutSeconds, w.ClientConfig, w.Rules,
					w.MatchConditions, w.NamespaceSelector})
			}
		}
	}
	slices.SortFunc(all, func(a, b hook) int { return cmp.Compare(a.path, b.path) })
	return all
}

// hubs are the overlays with webhook configurations.
func hubs() []string {
	return []string{"overlays/beside-metrics-server", "overlays/karmada/webhook", "overlays/standalone", "overlays/standalone-cert-manager"}
}

func TestWebhooksOfOverlays(t *testing.T) {
	for _, dir := range overlays() {
		var paths []string
		for _, h := range hooks(t, dir) {
			paths = append(paths, h.path)
		}
		var want []string
		if slices.Contains(hubs(), dir) {
			want = []string{"/mutate-cronfederatedhpa", "/mutate-federatedhpa", "/mutate-multidimpodautoscaler",
				"/validate-cronfederatedhpa", "/validate-federatedhpa", "/validate-multidimpodautoscaler"}
		}
		if diff := gocmp.Diff(want, paths); diff != "" {
			t.Errorf("%s: paths (-want +got):\n%s", dir, diff)
		}
	}
}

// None lets through what it could not judge, makes anybody wait for long, or has an effect.
func TestWebhooksAreStrictAndQuick(t *testing.T) {
	for _, dir := range hubs() {
		for _, h := range hooks(t, dir) {
			if *h.failurePolicy != admissionregistrationv1.Fail || *h.sideEffects != admissionregistrationv1.SideEffectClassNone ||
				*h.timeoutSeconds > 5 {
				t.Errorf("%s: %s: %s, %s, %d s", dir, h.path, *h.failurePolicy, *h.sideEffects, *h.timeoutSeconds)
			}
			service := h.clientConfig.Service
			if service.Namespace+"/"+service.Name != "fleetscale-system/webhook" || *service.Port != 443 {
				t.Errorf("%s: %s leads to %v", dir, h.path, service)
			}
			resources := []string{strings.SplitAfter(h.path, "-")[1] + "s"}
			want := []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{"autoscaling.karmada.io"}, APIVersions: []string{"v1alpha1"},
					Resources: resources, Scope: new(admissionregistrationv1.NamespacedScope)},
			}}
			if diff := gocmp.Diff(want, h.rules); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", dir, h.path, diff)
			}
		}
	}
}

func TestWebhooksDoNotLockTheSystemOut(t *testing.T) {
	for _, h := range hooks(t, "overlays/standalone") {
		selector, err := metav1.LabelSelectorAsSelector(h.namespaces)
		if err != nil {
			t.Fatal(err)
		}
		for namespace, want := range map[string]bool{"fleetscale-system": false, "kube-system": false, "shop": true, "default": true} {
			if got := selector.Matches(labels.Set{"kubernetes.io/metadata.name": namespace}); got != want {
				t.Errorf("%s is asked about namespace %s: %v", h.path, namespace, got)
			}
		}
	}
}

// The conditions are evaluated as the API server does.
func TestWebhooksAreAskedOnlyWhatMatters(t *testing.T) {
	const stored = `{metadata: {name: a, labels: {x: "1"}, finalizers: [f]}, spec: {maxReplicas: 3, scaleTargetRef: {name: web}},
		status: {desiredReplicas: 1}}`
	tests := map[string]struct {
		object, before string
		want           bool
	}{
		"created":                     {stored, "", true},
		"created without a spec":      {`{metadata: {name: a}}`, "", true},
		"the spec changed":            {strings.Replace(stored, "maxReplicas: 3", "maxReplicas: 4", 1), stored, true},
		"a field of it was added":     {strings.Replace(stored, "name: web", "name: web, kind: Deployment", 1), stored, true},
		"the spec was taken away":     {`{metadata: {name: a}}`, stored, true},
		"there is no spec, as before": {`{metadata: {name: a}}`, `{metadata: {name: a, labels: {x: "1"}}}`, false},
		"the same again":              {stored, stored, false},
		"somebody's annotation":       {strings.Replace(stored, "labels:", "annotations: {who: me}, labels:", 1), stored, false},
		"a label changed":             {strings.Replace(stored, `x: "1"`, `x: "2"`, 1), stored, false},
		"a finalizer was removed":     {strings.Replace(stored, "[f]", "[]", 1), stored, false},
		"the status changed":          {strings.Replace(stored, "desiredReplicas: 1", "desiredReplicas: 2", 1), stored, false},
		"changed while it is deleted": {strings.Replace(strings.Replace(stored, "maxReplicas: 3", "maxReplicas: 0", 1), "name: a",
			`name: a, deletionTimestamp: "2026-01-01T00:00:00Z"`, 1), stored, false},
	}
	for _, h := range hooks(t, "overlays/standalone") {
		matcher := newMatcher(t, h)
		for name, tc := range tests {
			result := matcher.Match(t.Context(), versioned(t, tc.object, tc.before), nil, nil)
			if result.Error != nil || result.Matches != tc.want {
				t.Errorf("%s: %s: asked = %v, %v; want %v", h.path, name, result.Matches, result.Error, tc.want)
			}
		}
		copied := strings.Replace(stored, "labels:", `annotations: {fleetscale.io/spec: "{}"}, labels:`, 1)
		copies := h.path == "/mutate-federatedhpa" || h.path == "/mutate-cronfederatedhpa" // who keeps the copy of a spec
		for name, update := range map[string][]string{"the copy is written": {copied, stored}, "the copy is taken away": {stored, copied}} {
			result := matcher.Match(t.Context(), versioned(t, update[0], update[1]), nil, nil)
			if result.Error != nil || result.Matches != copies {
				t.Errorf("%s: %s: asked = %v, %v; want %v", h.path, name, result.Matches, result.Error, copies)
			}
		}
	}
}

func newMatcher(t *testing.T, h hook) matchconditions.Matcher {
	t.Helper()
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 30))) // the oldest hub
	var expressions []cel.ExpressionAccessor
	for _, c := range h.conditions {
		expressions = append(expressions, &matchconditions.MatchCondition{Name: c.Name, Expression: c.Expression})
	}
	compiled := compiler.CompileCondition(expressions, cel.OptionalVariableDeclarations{}, environment.NewExpressions)
	if errs := compiled.CompilationErrors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return matchconditions.NewMatcher(compiled, h.failurePolicy, "webhook", "test", h.Name)
}

// versioned is an update, or a creation if before is empty.
func versioned(t *testing.T, object, before string) *admission.VersionedAttributes {
	t.Helper()
	read := func(text string) runtime.Object {
		if text == "" {
			return nil
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		return o
	}
	kind := schema.GroupVersionKind{Group: "autoscaling.karmada.io", Version: "v1alpha1", Kind: "FederatedHPA"}
	resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "federatedhpas"}
	operation := admission.Create
	if before != "" {
		operation = admission.Update
	}
	newObject, oldObject := read(object), read(before)
	attributes := admission.NewAttributesRecord(newObject, oldObject, kind, "shop", "a", resource, "", operation, nil, false, nil)
	return &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind, VersionedObject: admission.NewLazyObject(newObject),
		VersionedOldObject: admission.NewLazyObject(oldObject)}
}

// Who verifies the webhook's certificate, and by what.
func TestCertManagerHasEveryWebhookVerified(t *testing.T) {
	const dir = "overlays/standalone-cert-manager"
	found := 0
	for _, r := range render(t, filepath.Join(root, dir)) {
		if !strings.HasSuffix(r.GetKind(), "WebhookConfiguration") {
			continue
		}
		found++
		if got := r.GetAnnotations()["cert-manager.io/inject-ca-from"]; got != "fleetscale-system/webhook" {
			t.Errorf("%s gets the authority of %q", r.GetKind(), got)
		}
	}
	if found != 2 {
		t.Errorf("%d configurations", found)
	}
	for _, line := range rights(t, dir) {
		if strings.Contains(line, "self-signed") && !strings.Contains(line, "controller-manager-self-signed") { // that is for scrapers
			t.Errorf("a right that only self-signing needs: %s", line)
		}
	}
}

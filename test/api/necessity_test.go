// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// Every rule of the spec is held by a case: without the rule, some bad object is no longer refused in the same words.
// The largest sizes are apart: they are there for the cost of the rules, and TestAPIServerAcceptsTheCRDs needs them.
func TestNoRuleCanBeTakenAway(t *testing.T) {
	for _, file := range crds(t) {
		crd := load(t, file)
		root := schemaOf(crd)
		delete(root.Properties, "status") // has no rules, and takes long to prepare
		byValues, byRules := shared(t, crd)
		tried := 0
		removals(root, "", func(rule string, isCEL bool) {
			tried++
			if isCEL && !missed(t, serve(t, crd), byRules) || !isCEL && !missed(t, serveValues(t, crd), byValues) {
				t.Errorf("%s: no case of testdata/rules.yaml needs %s", crd.Spec.Names.Kind, rule)
			}
		})
		if tried < (len(byValues)+len(byRules))/2 {
			t.Errorf("%s: only %d rules found", crd.Name, tried)
		}
	}
}

// shared parts the cases of the kind: what the values alone refuse, and what needs the CEL rules, which take a hundred
// times longer to prepare.
func shared(t *testing.T, crd *apiextensions.CustomResourceDefinition) (byValues, byRules []neighbours) {
	t.Helper()
	server := serveValues(t, crd)
	for _, c := range cases(t) {
		switch {
		case c.kind != crd.Spec.Names.Kind:
		case missed(t, server, []neighbours{c}):
			byRules = append(byRules, c)
		default:
			byValues = append(byValues, c)
		}
	}
	return byValues, byRules
}

// missed reports whether the bad object of some case is not refused as it should be.
func missed(t *testing.T, server server, among []neighbours) bool {
	t.Helper()
	return slices.ContainsFunc(among, func(c neighbours) bool {
		_, errs := server.create(t.Context(), c.bad)
		return !says(errs, c.Want)
	})
}

func schemaOf(crd *apiextensions.CustomResourceDefinition) *apiextensions.JSONSchemaProps {
	if crd.Spec.Validation != nil { // where the conversion puts the schema of an only version
		return crd.Spec.Validation.OpenAPIV3Schema
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// removals takes each rule of schema and of what is below it away in turn, calls try, and puts it back. That a field must
// be there is not among them: it follows from the Go types.
func removals(schema *apiextensions.JSONSchemaProps, path string, try func(rule string, isCEL bool)) {
	for i, rule := range schema.XValidations {
		without(&schema.XValidations, slices.Delete(slices.Clone(schema.XValidations), i, i+1), func() { try(path+": "+rule.Rule, true) })
	}
	if len(schema.Enum) > 0 {
		without(&schema.Enum, nil, func() { try(path+": enum", false) })
	}
	if schema.Pattern != "" && !schema.XIntOrString { // that of a quantity is not ours
		without(&schema.Pattern, "", func() { try(path+": pattern", false) })
	}
	tryWithout(&schema.Minimum, path+": minimum", try)
	tryWithout(&schema.Maximum, path+": maximum", try)
	tryWithout(&schema.MinLength, path+": minLength", try)
	tryWithout(&schema.MinItems, path+": minItems", try)
	tryWithout(&schema.MinProperties, path+": minProperties", try)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		child := schema.Properties[name]
		removals(&child, path+"."+name, func(rule string, isCEL bool) {
			without(&schema.Properties, replaced(schema.Properties, name, child), func() { try(rule, isCEL) })
		})
	}
	if schema.Items != nil {
		removals(schema.Items.Schema, path+"[]", try)
	}
}

func tryWithout[T any](bound **T, rule string, try func(string, bool)) {
	if *bound != nil {
		without(bound, nil, func() { try(rule, false) })
	}
}

// without sets a field while try runs.
func without[T any](field *T, value T, try func()) {
	before := *field
	*field = value
	try()
	*field = before
}

// replaced returns a copy of properties in which one has another schema.
func replaced(properties map[string]apiextensions.JSONSchemaProps, name string,
	schema apiextensions.JSONSchemaProps) map[string]apiextensions.JSONSchemaProps {
	properties = maps.Clone(properties)
	properties[name] = schema
	return properties
}

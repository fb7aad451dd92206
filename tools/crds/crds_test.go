// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const given = `
type: object
properties:
  up: {type: object, properties: {names: {type: array, items: {type: string}}}}
  down: {type: object, properties: {names: {type: array, maxItems: 3, items: {type: string}}}}
  labels: {type: object, additionalProperties: {type: string}}
`

func TestApply(t *testing.T) {
	tests := map[string]struct {
		bounds, want, wantErr string
	}{
		"one field": {
			`[{fields: [up.names], schema: {maxItems: 1}}]`,
			`{"up.names": {"maxItems": 1}}`, ""},
		"either of two": {
			`[{fields: ["{up,down}.names[]"], schema: {maxLength: 9}}]`,
			`{"up.names[]": {"maxLength": 9}, "down.names[]": {"maxLength": 9}}`, ""},
		"any one name, and the values of a map": {
			`[{fields: ["*.names[]"], schema: {maxLength: 9}}, {fields: ["labels{}"], schema: {maxLength: 8}}]`,
			`{"up.names[]": {"maxLength": 9}, "down.names[]": {"maxLength": 9}, "labels{}": {"maxLength": 8}}`, ""},
		"rules are added up": {
			`[{fields: [labels], schema: {x-kubernetes-validations: [{rule: a}]}}, {fields: ["**bels"], schema: {x-kubernetes-validations: [{rule: b}]}}]`,
			`{"labels": {"x-kubernetes-validations": [{"rule": "a"}, {"rule": "b"}]}}`, ""},
		"a bound that is there already, and another": {
			`[{fields: [down.names], schema: {maxItems: 4}}]`, "", "down.names: maxItems is 3 already"},
		"a name that no field has": {
			`[{fields: [up.name], schema: {maxItems: 4}}]`, "", "no field matches up.name"},
		"a word that no schema has": {
			`[{fields: [up], schema: {maxItem: 4}}]`, "", `unknown field "maxItem"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := applied(t, tc.bounds)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]map[string]any{}
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			for path, bounds := range want {
				for bound, value := range bounds {
					if has := got[path][bound]; text(has) != text(value) {
						t.Errorf("%s has %s %v, want %v", path, bound, has, value)
					}
				}
			}
		})
	}
}

// applied returns the schemas of all fields, by path, after the bounds were laid over the given schema.
func applied(t *testing.T, boundsText string) (map[string]map[string]any, error) {
	t.Helper()
	schema := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(given), schema); err != nil {
		t.Fatal(err)
	}
	rules, err := parseBounds([]byte(boundsText))
	if err != nil {
		return nil, err
	}
	if err := rules.apply(schema); err != nil {
		return nil, err
	}
	all := map[string]map[string]any{}
	err = walk(schema, "", func(s *apiextensionsv1.JSONSchemaProps, path string) error {
		fields := map[string]any{}
		all[path] = fields
		return json.Unmarshal([]byte(text(s)), &fields)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, rules.unused()
}

func text(value any) string {
	written, err := json.Marshal(value)
	if err != nil {
		panic(err) // what was read from JSON can be written
	}
	return string(written)
}

func TestUnboundedNamesEachField(t *testing.T) {
	schema := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(given), schema); err != nil {
		t.Fatal(err)
	}
	err := unbounded(schema)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"up.names may", "up.names[] may", "down.names[] may", "labels may", "labels{} may"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "down.names may") {
		t.Errorf("%v names a list that has a bound", err)
	}
}

func TestUnwrapKeepsSentencesAndLists(t *testing.T) {
	schema := &apiextensionsv1.JSONSchemaProps{Description: "One line\nand more. An end.\nExample: 1\n- an item\n- another\n\nA " +
		"paragraph\nof two lines\n  * indented"}
	if err := unwrap(schema); err != nil {
		t.Fatal(err)
	}
	want := "One line and more. An end.\nExample: 1\n- an item\n- another\n\nA paragraph of two lines\n  * indented"
	if schema.Description != want {
		t.Errorf("got %q, want %q", schema.Description, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"sigs.k8s.io/yaml"
)

// What the description of a field gives as an example is accepted there.
func TestExamplesOfFieldsAreAccepted(t *testing.T) {
	for _, file := range crds(t) {
		crd, tried := load(t, file), 0
		eachField(*schemaOf(crd), "", func(field apiextensions.JSONSchemaProps, path string) {
			_, sample, found := strings.Cut(field.Description, "\nExample: ")
			if !found {
				return
			}
			tried++
			sample, _, _ = strings.Cut(sample, "\n")
			var value any
			if err := yaml.Unmarshal([]byte(sample), &value); err != nil {
				t.Errorf("%s %s: the example %s cannot be read: %v", crd.Spec.Names.Kind, path, sample, err)
				return
			}
			holder := map[string]any{"field": whole(value)}
			stored, errs := serveField(t, field).create(t.Context(), holder)
			if lost := lacks(stored, holder, ""); len(errs) > 0 || len(lost) > 0 {
				t.Errorf("%s %s: the example %s is refused: %v, or loses %v", crd.Spec.Names.Kind, path, sample, errs.ToAggregate(), lost)
			}
		})
		if few := map[string]int{"PodSizes": 5}; tried < cmp.Or(few[crd.Spec.Names.Kind], 15) {
			t.Errorf("%s: only %d examples found", crd.Name, tried)
		}
	}
}

// serveField returns a server of objects with this one field.
func serveField(t *testing.T, field apiextensions.JSONSchemaProps) server {
	t.Helper()
	root := &apiextensions.JSONSchemaProps{Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{"field": field}}
	crd := &apiextensions.CustomResourceDefinition{}
	crd.Spec.Validation = &apiextensions.CustomResourceValidation{OpenAPIV3Schema: root}
	return serve(t, crd)
}

func eachField(schema apiextensions.JSONSchemaProps, path string, see func(apiextensions.JSONSchemaProps, string)) {
	see(schema, path)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		eachField(schema.Properties[name], path+"."+name, see)
	}
	if schema.Items != nil {
		eachField(*schema.Items.Schema, path+"[]", see)
	}
}

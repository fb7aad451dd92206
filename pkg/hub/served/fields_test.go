// SPDX-License-Identifier: Apache-2.0

package served

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Whatever single field a hub drops is missed, and nothing else.
func TestEveryFieldOfOursIsMissed(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			schema := read(t, schemaOf(ours(t), k.name))
			if got := lost(k.of, schema, ""); got != nil {
				t.Fatalf("of our own schema, lost: %v", got)
			}
			fields := 0
			eachField(schema, "", func(parent *spec.Schema, name, path string) {
				fields++
				whole := parent.Properties[name]
				delete(parent.Properties, name)
				fleettest.Same(t, "without "+path+", lost", []string{path}, lost(k.of, schema, ""))
				parent.Properties[name] = whole
			})
			if fields < 40 {
				t.Errorf("only %d fields tried", fields)
			}
		})
	}
}

func TestFieldsThatAreKeptWithoutBeingNamed(t *testing.T) {
	open := object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	tests := map[string]struct {
		schema object
		want   []string
	}{
		"all of an object": {open, nil},
		"all of a part": {object{"properties": object{"apiVersion": object{}, "kind": object{}, "metadata": object{}, "spec": open,
			"status": open}}, nil},
		"all of one of two": {object{"properties": object{"apiVersion": object{}, "kind": object{}, "metadata": object{}, "spec": open}},
			[]string{"status"}},
		"nothing of a bare one": {object{"type": "object"}, []string{"kind", "apiVersion", "metadata", "spec", "status"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "lost", tc.want, lost(kinds()[0].of, read(t, tc.schema), ""))
		})
	}
}

func read(t *testing.T, schema object) *spec.Schema {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	s := &spec.Schema{}
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// eachField visits every field with the schema that holds it.
func eachField(s *spec.Schema, path string, visit func(parent *spec.Schema, name, path string)) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below, to := s.Properties[name], name
		if path != "" {
			to = path + "." + name
		}
		visit(s, name, to)
		eachField(&below, to, visit)
	}
	if s.Items != nil {
		eachField(s.Items.Schema, path+"[]", visit)
	}
	if s.AdditionalProperties != nil {
		eachField(s.AdditionalProperties.Schema, path+"{}", visit)
	}
}

// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// former has the kinds as they were on 2026-11-23, without descriptions, and objects of that time.
const former = "testdata/former"

// Who applies our CustomResourceDefinitions over former ones keeps all objects as they are, spec and status: nothing is dropped, nothing is
// filled in, and they are still valid. Who goes back to the former ones keeps them too.
func TestObjectsOutliveAnUpgrade(t *testing.T) {
	before, after := formerServers(t), servers(t)
	for _, object := range documents(t, filepath.Join(former, "objects.yaml")) {
		kind := object.GetKind()
		t.Run(kind+" "+object.GetName(), func(t *testing.T) {
			stored := survives(t, "created", before[kind], object.Object)
			upgraded := survives(t, "upgraded", after[kind], stored)
			if diff := cmp.Diff(stored, upgraded); diff != "" {
				t.Errorf("an upgrade changes it (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(stored, survives(t, "rolled back", before[kind], upgraded)); diff != "" {
				t.Errorf("and going back changes it (-before +after):\n%s", diff)
			}
		})
	}
}

// survives returns an object as a server has it, which must not refuse it, nor drop anything of it.
func survives(t *testing.T, when string, by server, object map[string]any) map[string]any {
	t.Helper()
	stored, errs := by.create(t.Context(), object)
	if len(errs) > 0 {
		t.Errorf("%s: it is refused: %v", when, errs.ToAggregate())
	}
	for _, lost := range dropped("", object, stored) {
		t.Errorf("%s: it loses %s", when, lost)
	}
	return stored
}

// dropped are the paths of what is in a value and not in another one.
func dropped(path string, from, to any) (lost []string) {
	switch from := from.(type) {
	case map[string]any:
		to, _ := to.(map[string]any)
		for key, value := range from {
			if _, kept := to[key]; !kept {
				lost = append(lost, path+"."+key)
				continue
			}
			lost = append(lost, dropped(path+"."+key, value, to[key])...)
		}
	case []any:
		to, _ := to.([]any)
		if len(to) != len(from) {
			return []string{path}
		}
		for i := range from {
			lost = append(lost, dropped(fmt.Sprintf("%s[%d]", path, i), from[i], to[i])...)
		}
	}
	return lost
}

// No field of a former schema is gone, of another type, or has to be set where it had not.
func TestSchemasOnlyGrow(t *testing.T) {
	after := servers(t)
	for kind, before := range formerServers(t) {
		for _, fault := range narrowed("", before.schema, after[kind].schema) {
			t.Errorf("%s: %s", kind, fault)
		}
	}
}

func narrowed(path string, before, after *schema.Structural) (faults []string) {
	if before == nil {
		return nil
	}
	if after == nil {
		return []string{path + " is gone"}
	}
	if before.Type != after.Type {
		faults = append(faults, fmt.Sprintf("%s was of type %q, and is of type %q", path, before.Type, after.Type))
	}
	if was, is := before.ValueValidation, after.ValueValidation; is != nil {
		for _, name := range is.Required {
			if was == nil || !slices.Contains(was.Required, name) {
				faults = append(faults, fmt.Sprintf("%s.%s has to be set", path, name))
			}
		}
	}
	for name, property := range before.Properties {
		next, kept := after.Properties[name]
		if !kept {
			faults = append(faults, path+"."+name+" is gone")
			continue
		}
		faults = append(faults, narrowed(path+"."+name, &property, &next)...)
	}
	return append(faults, narrowed(path+"[]", before.Items, after.Items)...)
}

// A server that drops, or fills in, is found out.
func TestADroppedFieldIsSeen(t *testing.T) {
	from := map[string]any{"spec": map[string]any{"a": int64(1), "b": []any{map[string]any{"c": "d"}}}}
	for name, to := range map[string]map[string]any{
		".spec.a":      {"spec": map[string]any{"b": []any{map[string]any{"c": "d"}}}},
		".spec.b":      {"spec": map[string]any{"a": int64(1), "b": []any{}}},
		".spec.b[0].c": {"spec": map[string]any{"a": int64(1), "b": []any{map[string]any{}}}},
	} {
		fleettest.Same(t, "", []string{name}, dropped("", from, to))
	}
}

func formerServers(t *testing.T) map[string]server {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(former, "autoscaling.karmada.io_*.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("former CustomResourceDefinitions: %v (%v), want four", files, err)
	}
	all := map[string]server{}
	for _, file := range files {
		crd := load(t, file)
		all[crd.Spec.Names.Kind] = serve(t, crd)
	}
	return all
}

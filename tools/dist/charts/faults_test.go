// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"strings"
	"testing"
)

// What could not be written as a template, or would be written wrongly, fails the release.
func TestFaults(t *testing.T) {
	named := func(more map[string]any) map[string]any {
		made := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "one"}}
		for key, value := range more {
			made[key] = value
		}
		return made
	}
	twice := func(b *builder) error {
		b.add(option{file: "a.yaml", when: "a"}, named(nil))
		b.add(option{file: "a.yaml", when: "b"}, named(map[string]any{"data": map[string]any{}}))
		return b.one(named(nil), func(*object) {})
	}
	dash := func(b *builder) error {
		before := named(map[string]any{"list": []any{map[string]any{"a": "1"}}})
		b.add(option{file: "a.yaml"}, before)
		b.objects[0].part.change("a", before, named(map[string]any{"list": []any{map[string]any{"b": "1"}}}))
		_, err := b.templates("")
		return err
	}
	for name, tc := range map[string]struct {
		of   func(*builder) error
		want string
	}{
		"a change of one of two objects":      {twice, "ConfigMap /one is in the chart 2 times"},
		"an item with nothing for its dash":   {dash, "no field that is always there"},
		"a namespace that nobody makes":       {func(b *builder) error { return b.spare("one") }, "there is no namespace one"},
		"a program that is not run":           {func(b *builder) error { return b.place() }, "the Deployment of metrics-adapter: there is none"},
		"a kustomization that cannot be made": {unmakable, "what a makes of"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.of(&builder{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func unmakable(b *builder) (err error) {
	if b.memory, err = memory(); err != nil {
		return err
	}
	return b.apply([]option{{when: "a", to: resources("deploy/nowhere")}})
}

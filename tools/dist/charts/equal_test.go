// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"io/fs"
	"maps"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/yaml"
)

// same are the values by which Helm installs what an overlay does.
type same struct {
	values string
	overlay
}

// overlay is one that people apply, as text in a folder beside deploy/; several of them, one after the other.
type overlay string

const apart overlay = "===\n"

func of(folders ...string) overlay {
	return "resources:\n- ../" + overlay(strings.Join(folders, "\n- ../")) + "\n"
}

// with has components of deploy/, or those of certs/.
func (o overlay) with(components ...string) overlay {
	o += "components:\n"
	for _, c := range components {
		if !strings.HasPrefix(c, "certs/") {
			c = "deploy/components/" + c
		}
		o += "- ../" + overlay(c) + "\n"
	}
	return o
}

// argument is a part of a patch.
func argument(arg string) overlay {
	return "    - {op: add, path: /spec/template/spec/containers/0/args/-, value: '" + overlay(arg) + "'}\n"
}

// A release has the objects of the overlay that its values stand for, field by field.
func TestEqualsKustomize(t *testing.T) {
	for name, ways := range map[string][]map[string]same{"fleetscale": {hubs(), karmadas()}, "fleetscale-member": {members()}} {
		loaded := load(t, name)
		for _, all := range ways {
			for way, tc := range all {
				t.Run(name+" "+way, func(t *testing.T) {
					rendered, err := render(t, loaded, "kube-system", tc.values)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(applied(t, tc.overlay), objects(t, rendered)); diff != "" {
						t.Errorf("objects (-kustomize +helm):\n%s", diff)
					}
				})
			}
		}
	}
}

// applied are the objects of overlays: what several have is the same in all.
func applied(t *testing.T, overlays overlay) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for text := range strings.SplitSeq(string(overlays), string(apart)) {
		made := kustomized(t, text)
		for id, one := range made {
			if all[id] != nil && !reflect.DeepEqual(all[id], one) {
				t.Fatalf("overlays disagree on %s", id)
			}
		}
		maps.Copy(all, made)
	}
	return all
}

func kustomized(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	from, err := memory()
	if err != nil {
		t.Fatal(err)
	}
	if err := from.WriteFile("/mine/kustomization.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(from, "/mine")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var one map[string]any
		if err := yaml.Unmarshal(text, &one); err != nil {
			t.Fatal(err)
		}
		addTo(t, all, one)
	}
	if len(all) == 0 {
		t.Fatal("kustomize builds nothing")
	}
	return all
}

// What people can apply with kustomize they can install with Helm, and a test above compares both.
func TestEveryFolderHasValues(t *testing.T) {
	var compared string
	for _, all := range []map[string]same{hubs(), karmadas(), members()} {
		for _, tc := range all {
			compared += string(tc.overlay)
		}
	}
	for _, folder := range []string{"sources", "namespaces"} {
		text, err := fs.ReadFile(checkout, "test/deploy/testdata/"+folder+"/kustomization.yaml")
		if err != nil {
			t.Fatal(err)
		}
		compared += strings.ReplaceAll(string(text), "../../../../", "../")
	}
	found := 0
	for _, pattern := range []string{"overlays/*", "overlays/karmada/*", "member*", "member-namespaced/*", "components/*",
		"../certs/cert-manager/*", "../certs/given", "../certs/given/*"} {
		folders, err := fs.Glob(checkout, path.Join("deploy", pattern, "kustomization.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folders {
			found++
			folder := path.Dir(f)
			if !strings.Contains(compared, "- ../"+folder+"\n") {
				t.Errorf("no values stand for %s", folder)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d folders found", found)
	}
}

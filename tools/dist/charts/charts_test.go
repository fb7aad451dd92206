// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// checkout is the repository.
var checkout = os.DirFS("../../..")

// released is what deploy/ names, so that images are the same.
var released = Release{Version: "v0.1.0", Registry: home, Tag: "v0.1.0"}

// memory has what kustomize builds from the checkout.
var memory = sync.OnceValues(func() (filesys.FileSystem, error) {
	to := filesys.MakeFsInMemory()
	for _, top := range []string{"deploy", "certs", "test/deploy/testdata"} {
		err := fs.WalkDir(checkout, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".yaml" && path.Ext(name) != ".json" {
				return err
			}
			text, err := fs.ReadFile(checkout, name)
			if err != nil {
				return err
			}
			return to.WriteFile("/"+name, text)
		})
		if err != nil {
			return nil, err
		}
	}
	return to, nil
})

// made has the charts of the checkout, each in a folder of its name; to make them takes seconds.
var made = sync.OnceValues(func() (map[string]map[string][]byte, error) {
	from, err := memory()
	if err != nil {
		return nil, err
	}
	return Make(from, checkout, released)
})

func files(t *testing.T, name string) map[string][]byte {
	t.Helper()
	all, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// unpack writes a chart into a folder.
func unpack(t *testing.T, files map[string][]byte) string {
	t.Helper()
	folder := t.TempDir()
	for file, text := range files {
		to := filepath.Join(folder, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func load(t *testing.T, name string) *chart.Chart {
	t.Helper()
	return loadFiles(t, files(t, name))
}

func loadFiles(t *testing.T, files map[string][]byte) *chart.Chart {
	t.Helper()
	loaded, err := loader.LoadDir(unpack(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// values reads them as Helm does.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	var all map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// render is `helm template` into a namespace; an error is of the schema or of a template.
func render(t *testing.T, c *chart.Chart, namespace, text string) (map[string]string, error) {
	t.Helper()
	options := common.ReleaseOptions{Name: "fleetscale", Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(c, values(t, text), options, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// objects of what was rendered, by what they are.
func objects(t *testing.T, rendered map[string]string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for file, text := range rendered {
		if path.Ext(file) != ".yaml" {
			continue
		}
		for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
			var one map[string]any
			if err := yaml.UnmarshalStrict([]byte(doc), &one); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, doc)
			}
			if one != nil {
				addTo(t, all, one)
			}
		}
	}
	return all
}

func addTo(t *testing.T, all map[string]map[string]any, one map[string]any) {
	t.Helper()
	name, namespace := nameOf(one)
	id := strings.Join([]string{one["apiVersion"].(string), one["kind"].(string), namespace, name}, " ")
	if all[id] != nil {
		t.Errorf("%s is there twice", id)
	}
	all[id] = one
}

func TestLint(t *testing.T) {
	for _, name := range []string{"fleetscale", "fleetscale-member"} {
		result := lint.RunAll(unpack(t, files(t, name)), nil, "kube-system")
		for _, m := range result.Messages {
			if m.Severity != support.InfoSev {
				t.Errorf("%s: %s", name, m)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// Helm installs what the manifests of the same release do, images and all.
func testCharts(t *testing.T, m made) {
	for name, manifest := range map[string]string{"fleetscale": "install-standalone.yaml", "fleetscale-member": "install-member-write.yaml"} {
		loaded, err := loader.LoadFile(filepath.Join(m.out, name+"-1.2.3.tgz"))
		if err != nil {
			t.Fatal(err)
		}
		if about := loaded.Metadata; about.Name != name || about.Version != "1.2.3" || about.AppVersion != madeVersion {
			t.Errorf("it is %s %s of %s", about.Name, about.Version, about.AppVersion)
		}
		values, err := util.ToRenderValues(loaded, nil, common.ReleaseOptions{Namespace: "kube-system"}, common.DefaultCapabilities)
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := engine.Render(loaded, values)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for file, text := range rendered {
			if filepath.Ext(file) == ".yaml" {
				all.WriteString("\n---\n" + text)
			}
		}
		if diff := cmp.Diff(documents(t, string(m.read(t, manifest))), documents(t, all.String())); diff != "" {
			t.Errorf("%s (-%s +helm):\n%s", name, manifest, diff)
		}
	}
}

// documents are those of some YAML, by kind, namespace and name.
func documents(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var one struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		var whole map[string]any
		for _, into := range []any{&one, &whole} {
			if err := yaml.Unmarshal([]byte(doc), into); err != nil {
				t.Fatal(err)
			}
		}
		if whole != nil {
			all[strings.Join([]string{one.Kind, one.Metadata.Namespace, one.Metadata.Name}, " ")] = whole
		}
	}
	return all
}

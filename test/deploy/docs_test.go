// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// What docs/install.md and docs/sources.md have people write builds, next to what is here.
func TestDocumentedOverlaysBuild(t *testing.T) {
	var text []byte
	for _, page := range []string{"install.md", "sources.md"} {
		content, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, content...)
	}
	copied := t.TempDir()
	for _, folder := range []string{"deploy", "certs"} {
		if err := os.CopyFS(filepath.Join(copied, folder), os.DirFS(filepath.Join(root, "..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	blocks := regexp.MustCompile("(?s)```yaml\n# deploy/overlays/mine/kustomization.yaml\n(.*?)\n```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 4 {
		t.Fatalf("found %d overlays in the pages; is the pattern still right?", len(blocks))
	}
	mine := filepath.Join(copied, "deploy/overlays/mine")
	if err := os.Mkdir(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		if err := os.WriteFile(filepath.Join(mine, "kustomization.yaml"), []byte(block[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		if len(render(t, mine)) == 0 {
			t.Errorf("nothing comes of\n%s", block[1])
		}
		if _, apis, found := strings.Cut(block[1], "--apis="); found {
			served, _, _ := strings.Cut(apis, "\n")
			want := append([]string{"members.fleetscale.io"}, strings.Split(served, ",")...)
			if diff := gocmp.Diff(want, groupsOf(apiServices(t, mine))); diff != "" {
				t.Errorf("APIs (-served +led to the adapter) of\n%s\n%s", block[1], diff)
			}
		}
	}
}

func groupsOf(all []apiregistrationv1.APIService) []string {
	var groups []string
	for _, api := range all {
		groups = append(groups, api.Spec.Group)
	}
	return slices.Compact(groups)
}

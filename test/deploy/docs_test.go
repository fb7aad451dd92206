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

// What pages have people write builds, next to what is here.
func TestDocumentedOverlaysBuild(t *testing.T) {
	mine := newMine(t)
	blocks := 0
	for _, page := range []string{"install.md", "operate.md", "observe.md", "sources.md", "clouds.md", "dashboard.md"} {
		for _, text := range documentedOverlays(readPage(t, page)) {
			blocks++
			folder := mine(text)
			if len(render(t, folder)) == 0 {
				t.Errorf("nothing comes of\n%s", text)
			}
			if _, apis, found := strings.Cut(text, "--apis="); found {
				served, _, _ := strings.Cut(apis, "\n")
				want := append([]string{"members.fleetscale.io", "history.fleetscale.io"}, strings.Split(served, ",")...)
				if diff := gocmp.Diff(want, groupsOf(apiServices(t, folder))); diff != "" {
					t.Errorf("APIs (-served +led to the adapter) of\n%s\n%s", text, diff)
				}
			}
		}
	}
	if blocks < 8 {
		t.Errorf("found %d overlays in the pages; is the pattern still right?", blocks)
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var overlayBlock = regexp.MustCompile("(?s)```yaml\n# deploy/overlays/mine/kustomization.yaml\n(.*?)\n```")

// documentedOverlays are those that a text has people write.
func documentedOverlays(text string) []string {
	var all []string
	for _, block := range overlayBlock.FindAllStringSubmatch(text, -1) {
		all = append(all, block[1])
	}
	return all
}

// newMine returns what writes an overlay beside a copy of what is here, in place of the one before, and says where that is.
func newMine(t *testing.T) func(overlay string) (folder string) {
	t.Helper()
	copied := t.TempDir()
	for _, folder := range []string{"deploy", "certs"} {
		if err := os.CopyFS(filepath.Join(copied, folder), os.DirFS(filepath.Join(root, "..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(copied, "deploy/overlays/mine")
	if err := os.Mkdir(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(overlay string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(mine, "kustomization.yaml"), []byte(overlay), 0o644); err != nil {
			t.Fatal(err)
		}
		return mine
	}
}

func groupsOf(all []apiregistrationv1.APIService) []string {
	var groups []string
	for _, api := range all {
		groups = append(groups, api.Spec.Group)
	}
	return slices.Compact(groups)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// Manifests without a release are the same files, whose images are known by the tag of deploy/.
func TestManifestsAlone(t *testing.T) {
	folder := t.TempDir()
	p := small(filepath.Join(folder, "checkout"), filepath.Join(folder, "out"), "registry.example.com/mine")
	checkout(t, p.root)
	for range 2 { // the second in place of the first
		if err := buildManifests(t.Context(), io.Discard, p); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{sumsFile, "fleetscale-1.2.3.tgz", "fleetscale-member-1.2.3.tgz"}
	for _, way := range ways(t) {
		want = append(want, installFile(way))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(hashes(t, p.out)))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(p.out, "install-standalone.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(images) != len(p.programs)-1 { // all but the dashboard, which is off by default
		t.Errorf("%d images", len(images))
	}
	for _, i := range images {
		if name, found := strings.CutPrefix(i[1], p.registry+"/"); !found || !strings.HasSuffix(name, ":"+madeVersion) {
			t.Errorf("an image is %s", i[1])
		}
	}
	chart, err := loader.LoadFile(filepath.Join(p.out, "fleetscale-1.2.3.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range chart.Metadata.Annotations {
		if strings.Contains(key, "digest") {
			t.Errorf("the chart knows %s of an image that is not built: %s", key, value)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// Each module of another minor has the libraries of one release of Kubernetes, and no two.
func TestEachMinorIsOfOneRelease(t *testing.T) {
	const folder = "../../../kubernetes"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		minor := entry.Name()
		t.Run(minor, func(t *testing.T) {
			g, err := Kubernetes(minor)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder, minor, "go.mod")
			version, err := kubernetesIn(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(version, "v"+minor+".") {
				t.Errorf("%s requires Kubernetes %s", path, version)
			}
			if diff := cmp.Diff(flagsOf(version), g.steps[0].flags); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			mod, err := modfile.Parse(path, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(mod.Replace) < 25 {
				t.Errorf("only %d libraries of Kubernetes are replaced", len(mod.Replace))
			}
			for _, r := range mod.Replace {
				if want := "v0" + strings.TrimPrefix(version, "v1"); r.New.Version != want {
					t.Errorf("%s is replaced by %s, want %s", r.Old.Path, r.New.Version, want)
				}
			}
		})
	}
}

func TestNoSuchMinor(t *testing.T) {
	_, err := Kubernetes("v1.36.3")
	if err == nil || !strings.HasSuffix(err.Error(), "kubernetes/v1.36.3/go.mod; a minor version is written like 1.36") {
		t.Errorf("error %v", err)
	}
}

func TestProgramsSayTheirVersion(t *testing.T) {
	const name = "-X k8s.io/component-base/version."
	want := []string{"-ldflags", "-s -w " + name + "gitVersion=v1.9.12 " + name + "gitMajor=1 " + name + "gitMinor=9"}
	if diff := cmp.Diff(want, flagsOf("v1.9.12")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What the demo and our programs both import is compiled once, and so of one version: of two, nearly all of Kubernetes' libraries are
// compiled twice, as they depend on it, and the first answer on a bare machine takes minutes longer.
func TestSharesVersionsWithOurPrograms(t *testing.T) {
	ours := linked(t, "../../..", "./cmd/...")
	shared := 0
	for path, version := range linked(t, ".", ".") {
		same, both := ours[path]
		if !both {
			continue
		}
		shared++
		if same != version {
			t.Errorf("%s: go.mod has %s, test/go.mod has %s. Run: go get %s@<the later>, and go mod tidy in all modules", path, same, version, path)
		}
	}
	if shared < 20 {
		t.Errorf("only %d modules are in both: is this the demo that runs our programs?", shared)
	}
}

// linked returns the versions of the modules that packages of a directory are made of. Those of this repository have none.
func linked(t *testing.T, dir string, packages string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}", packages)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing what %s in %s imports: %v", packages, dir, err)
	}
	versions := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, version, named := strings.Cut(strings.TrimSpace(line), " "); named && !strings.HasPrefix(path, "github.com/fleetscale/") {
			versions[path] = version
		}
	}
	return versions
}

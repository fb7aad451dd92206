// SPDX-License-Identifier: Apache-2.0

package skew

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// The page says what is tested, and no more.
func TestThePageHasTheMatrix(t *testing.T) {
	text, err := os.ReadFile("../../docs/support.md")
	if err != nil {
		t.Fatal(err)
	}
	var releases, matrix strings.Builder
	for _, c := range combinations() {
		fmt.Fprintf(&releases, "| %s | %s |\n", c.hub, release(t, c.hub))
		fmt.Fprintf(&matrix, "| %s | %s, %s |\n", c.hub, c.members[0], c.members[1])
	}
	for _, table := range []string{
		"| minor version | release |\n|---|---|\n" + releases.String() + "\n", "| hub | members |\n|---|---|\n" + matrix.String() + "\n",
	} {
		if !strings.Contains(string(text), table) {
			t.Errorf("docs/support.md lacks\n%s", table)
		}
	}
}

// Each version that can be built is tried, as a hub and as a member of each other one.
func TestAllPairsAreTried(t *testing.T) {
	folders, err := filepath.Glob("../kubernetes/*")
	if err != nil {
		t.Fatal(err)
	}
	minors := []string{newest}
	for _, folder := range folders {
		minors = append(minors, filepath.Base(folder))
	}
	pairs := map[string]int{}
	for _, c := range combinations() {
		for _, member := range c.members {
			pairs[c.hub+" "+member]++
		}
	}
	for _, hub := range minors {
		for _, member := range minors {
			if hub != member && pairs[hub+" "+member] != 1 {
				t.Errorf("a hub of %s with a member of %s is tried %d times", hub, member, pairs[hub+" "+member])
			}
		}
	}
}

// release is the one that is built of a minor version.
func release(t *testing.T, minor string) string {
	t.Helper()
	file := filepath.Join("..", "kubernetes", kubernetesOf(minor), "go.mod")
	if kubernetesOf(minor) == "" {
		file = "../go.mod"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, require := range mod.Require {
		if require.Mod.Path == "k8s.io/kubernetes" {
			return require.Mod.Version
		}
	}
	t.Fatalf("%s does not require k8s.io/kubernetes", file)
	return ""
}

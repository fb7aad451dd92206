// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The example of docs/install.md has its effect, the commands show it, and after the last of them it has none.
func TestDocumentedExample(t *testing.T) {
	m := newMember(t)
	page, err := os.ReadFile(filepath.Join(m.Repository, "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(page))
		if found == nil {
			t.Fatalf("docs/install.md has no %s", pattern)
		}
		return strings.ReplaceAll(found[1], "--context east ", "")
	}
	if _, err := m.Feed(t.Context(), find("(?s)```yaml\n([^`]*kind: PodSizes.*?)```"), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	m.shell(t, find("(kubectl .* get mutatingadmissionpolicy.*)"))
	ask := find(`(?s)(kubectl [^\n]* run shop .*?)` + "```")
	m.await(t, func(context.Context) error {
		pod := m.shell(t, ask)
		for _, want := range []string{"fleetscale.io/sized-by: shop@1", "cpu: 627m", "memory: 512Mi"} {
			if !strings.Contains(pod, want) {
				return fmt.Errorf("no %s in\n%s", want, pod)
			}
		}
		return nil
	})
	m.shell(t, find("(kubectl .* delete podsizes fleetscale)\n"))
	m.await(t, func(context.Context) error {
		if pod := m.shell(t, ask); strings.Contains(pod, "sized-by") {
			return fmt.Errorf("sized still:\n%s", pod)
		}
		return nil
	})
}

// shell runs a command of a page.
func (m *member) shell(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+m.Hub().Kubeconfig, "PATH="+filepath.Join(m.Dir(), "bin")+":"+os.Getenv("PATH"),
		"KUBECACHEDIR="+filepath.Join(m.Dir(), "clusters", "kubectl-cache"))
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, said)
	}
	return string(said)
}

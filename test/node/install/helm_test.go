// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// helm builds Helm, of the version that makes the charts.
func (s *stage) helm(t *testing.T) func(args ...string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "helm")
	run(t, filepath.Join(s.root, "tools/dist"), nil, "go", "build", "-o", program, "helm.sh/helm/v4/cmd/helm")
	home := t.TempDir()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(name, home)
	}
	t.Setenv("KUBECONFIG", s.Kubeconfig())
	return func(args ...string) {
		t.Helper()
		run(t, home, nil, program, append(args, "--kube-context", "hub", "--namespace", system)...)
	}
}

// chart is the package of a chart.
func (r release) chart(t *testing.T, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.dir, name+"-[0-9]*.tgz"))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("there are %d packages of the chart %s, want 1", len(found), name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func (s *stage) testHelm(t *testing.T) {
	helm, chart := s.helm(t), s.chart(t, "fleetscale")
	values := filepath.Join(t.TempDir(), "values.yaml")
	// A node knows what it imported by its tag only.
	if err := os.WriteFile(values, []byte("image: {tag: "+s.tag+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	replicas := func(want string) {
		t.Helper()
		if got := s.kubectl(t, "-n", system, "get", "deployment", "webhook", "-o", "jsonpath={.status.readyReplicas}"); got != want {
			t.Errorf("%s replicas of the webhook are ready, want %s", got, want)
		}
	}
	s.leavesNothing(t, func() {
		helm("install", "fleetscale", chart, "--create-namespace", "--values", values, "--wait")
		s.kubectl(t, "label", "namespace", system, "pod-security.kubernetes.io/enforce=restricted")
		s.works(t, func() {
			t.Run("a node is drained", s.testDrain)
			t.Run("a program is out of memory", s.testOOMKill)
		})
		helm("upgrade", "fleetscale", chart, "--reset-then-reuse-values", "--set", "webhook.replicas=3", "--wait")
		replicas("3")
		helm("rollback", "fleetscale", "1", "--wait")
		replicas("2")
		helm("uninstall", "fleetscale", "--wait")
		s.kubectl(t, "delete", "namespace", system)
		s.kubectl(t, "delete", "-k", filepath.Join(s.root, "deploy/crds"))
	})
}

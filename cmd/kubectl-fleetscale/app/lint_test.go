// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/plugin"
)

func TestExitCodesOfLint(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere/config") // none is needed
	good := filepath.Join(t.TempDir(), "good.yaml")
	if err := os.WriteFile(good, []byte("kind: ConfigMap\napiVersion: v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tree = "../../../pkg/plugin/lint/testdata/tree"
	for name, tc := range map[string]struct {
		args []string
		code int
		said string
	}{
		"nothing of ours":        {[]string{good}, 0, ""},
		"what is refused":        {[]string{tree + "/web.yaml"}, 1, ""},
		"what cannot be parsed":  {[]string{tree, "-o", "json"}, 2, ""},
		"no such file":           {[]string{"nowhere"}, 2, ""},
		"a format that is none":  {[]string{good, "-o", "xml"}, 2, `--output: there is no format "xml"; give one of text, json, sarif`},
		"an example of the docs": {[]string{"../../../docs/examples/distributed.yaml"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, append([]string{"lint"}, tc.args...)...)
			if code, said := plugin.ExitCode(err); code != tc.code || said != tc.said {
				t.Errorf("exit code %d, %q, want %d, %q\n%s", code, said, tc.code, tc.said, out)
			}
		})
	}
	if _, err := run(t, "lint"); err == nil || errors.As(err, new(*plugin.ExitError)) {
		t.Errorf("without arguments: %v", err)
	}
	manifest := "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: x}\nspec: {}\n"
	if err := os.WriteFile(good, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, "lint", "-n", "kube-system", good); err == nil || !strings.Contains(out, `namespace "kube-system"`) {
		t.Errorf("the namespace is not that of the flag: %v\n%s", err, out)
	}
}

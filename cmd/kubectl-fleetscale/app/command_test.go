// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/version"
)

func TestHelpShowsTheFlagsThatAreTaken(t *testing.T) {
	commandtest.HelpShowsFlags(t, func() *cobra.Command { return NewCommand(genericiooptions.NewTestIOStreamsDiscard()) })
}

func TestVersion(t *testing.T) {
	out, err := run(t, "version", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var info versionInfo
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "version", version.Get().Version, info.Version)
	if out, err := run(t, "version"); err != nil || !strings.Contains(out, "VERSION") || !strings.Contains(out, info.Version) {
		t.Errorf("error %v, and a table without the version:\n%s", err, out)
	}
	if _, err := run(t, "version", "-o", "xml"); err == nil || !strings.Contains(err.Error(), `--output: there is no format "xml"`) {
		t.Errorf("a format that is none: %v", err)
	}
}

// Completion is cobra's, and there for every shell.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, err := run(t, "completion", shell); err != nil || !strings.Contains(out, "kubectl-fleetscale") {
			t.Errorf("%s: %v, %d bytes", shell, err, len(out))
		}
	}
	out, err := run(t, "__complete", "restore", "--apis", "")
	if err != nil || !strings.Contains(out, "external.metrics.k8s.io") {
		t.Errorf("error %v, and no groups are offered:\n%s", err, out)
	}
}

// Without a kubeconfig a person is told what to give, and nothing of variables of long ago.
func TestWithoutAKubeconfig(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	contexts := filepath.Join(t.TempDir(), "config")
	const config = `{apiVersion: v1, kind: Config, contexts: [{name: hub, context: {cluster: hub}}]}`
	if err := os.WriteFile(contexts, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ kubeconfig, want string }{
		"none":                  {"/nowhere/config", "no kubeconfig found: give --kubeconfig FILE, or set KUBECONFIG"},
		"one without a context": {contexts, "the kubeconfig has no current context: give --context; `kubectl config get-contexts` lists them"},
	} {
		t.Setenv("KUBECONFIG", tc.kubeconfig)
		if _, err := run(t, "restore"); err == nil || err.Error() != tc.want {
			t.Errorf("%s: error = %v, want %s", name, err, tc.want)
		}
	}
}

// Exit codes and words are kubectl's where no command, or an unknown one, is given.
func TestUnknownCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		said string
	}{
		"none":            {nil, 0, ""},
		"unknown":         {[]string{"nothing"}, 1, `unknown command "nothing" for "kubectl fleetscale"`},
		"misspelt":        {[]string{"statu"}, 1, "Did you mean this?"},
		"none of top":     {[]string{"top"}, 1, ""},
		"an unknown top":  {[]string{"top", "nothing"}, 1, `unknown command "nothing" for "kubectl fleetscale top"`},
		"an unknown flag": {[]string{"status", "--nothing"}, 1, "unknown flag: --nothing"},
	} {
		_, err := run(t, tc.args...)
		code, said := plugin.ExitCode(err)
		if code != tc.code || !strings.Contains(said, tc.said) || (said == "") != (tc.said == "") {
			t.Errorf("%s: exit code %d, said %q", name, code, said)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/plugin"
)

const twoContexts = `{apiVersion: v1, kind: Config, current-context: hub,
contexts: [{name: hub, context: {cluster: c, user: u}}, {name: east, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "https://10.0.0.1"}}], users: [{name: u, user: {token: t}}]}`

func kubeconfigFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(twoContexts), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A flag of kubectl that would be ignored, or hold for one of two clusters, is an error.
func TestFlagsThatContextsSay(t *testing.T) {
	t.Setenv("KUBECONFIG", kubeconfigFile(t))
	for _, command := range []string{"join", "leave", "rotate"} {
		for flag, want := range map[string]string{
			"-n=shop": "--namespace: ", "--cluster=c": "--cluster: ", "--user=u": "--user: ", "--token=t": "--token: ",
			"--client-certificate=f": "--client-certificate: ", "--client-key=f": "--client-key: ",
		} {
			_, err := run(t, command, "east", "--context", "east", flag)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s %s: %v", command, flag, err)
			}
		}
	}
	if _, err := run(t, "join", "east", "--context", "east", "--server", "https://10.0.0.5", "--dry-run=client"); err != nil {
		t.Errorf("join --server, which is its own: %v", err)
	}
}

// Members are asked as whom, and within the time, that flags say.
func TestContextImpersonates(t *testing.T) {
	caller := plugin.NewCaller(genericiooptions.NewTestIOStreamsDiscard())
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	caller.AddFlags(fs)
	err := fs.Parse([]string{"--kubeconfig", kubeconfigFile(t), "--as", "jane", "--as-uid", "7", "--as-group", "a", "--as-group", "b",
		"--request-timeout", "7s"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := caller.Context("east")
	if err != nil {
		t.Fatal(err)
	}
	as := config.Impersonate
	if as.UserName != "jane" || as.UID != "7" || !slices.Equal(as.Groups, []string{"a", "b"}) || config.Timeout != 7*time.Second {
		t.Errorf("impersonates %v within %v", as, config.Timeout)
	}
	if config.Host != "https://10.0.0.1" || config.BearerToken != "t" {
		t.Error("it is not the context's user and server")
	}
}

// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// golden holds a text to the file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, file, string(want), got)
}

// What people and programs read is in testdata.
func TestPrint(t *testing.T) {
	p := healthy()
	p.Leases.Unknown = "needs list leases.coordination.k8s.io"
	p.Accounts.Value = p.Accounts.Value[:3] // without the webhook's
	p.Members.Value[0].Status.State = "Silent"
	p.Members.Value[0].Status.Reason = "Timeout"
	p.Members.Value[0].Status.Message = "no\x1b[2J\nanswer"
	p.Schema.Value = map[string]string{"CronFederatedHPA": "the hub drops fields of CronFederatedHPA: spec.rules[].maxDelaySeconds"}
	p.Visited = nil
	r := Judge(p)
	for _, format := range []string{"table", "wide", "json", "yaml"} {
		var output plugin.Output
		cmd := &cobra.Command{}
		output.AddFlag(cmd)
		if err := cmd.Flags().Set("output", format); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := r.Print(&out, &output); err != nil {
			t.Fatal(err)
		}
		golden(t, "report."+format, out.String())
		if !output.Machine() && strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: what a member says reaches the terminal as it is", format)
		}
	}
}

func TestCommands(t *testing.T) {
	none := Settings{}
	hub := Settings{HubFlags: []Flag{{"context", "hub"}}, Contexts: map[string]string{"east": "admin@east"}}
	typed := Settings{HubFlags: []Flag{{"as", "sre"}, {"as-group", "a b"}, {"context", "hub"}, {"insecure-skip-tls-verify=true", ""},
		{"kubeconfig", "/k"}, {"server", "https://hub"}}}
	const person = "--as sre --as-group 'a b'"
	fleettest.Same(t, "command", "kubectl "+person+" --context hub --insecure-skip-tls-verify=true --kubeconfig /k --server https://hub get x",
		typed.kubectl("get", "x"))
	fleettest.Same(t, "command", "kubectl fleetscale join east --context east "+person+" --kubeconfig /k --hub-context HUB",
		typed.membership("join", "east"))
	fleettest.Same(t, "command", "kubectl fleetscale leave east "+person+" --kubeconfig /k --hub-context HUB", typed.leave("east"))
	fleettest.Same(t, "command", "kubectl --context east "+person+" --kubeconfig /k get x", typed.member("east", "get", "x"))
	for want, got := range map[string]string{
		"kubectl get x":                                                       none.kubectl("get", "x"),
		"kubectl --context hub get x":                                         hub.kubectl("get", "x"),
		"kubectl fleetscale takeover":                                         none.plugin("takeover"),
		"kubectl fleetscale takeover --context hub":                           hub.plugin("takeover"),
		"kubectl fleetscale join west --context west":                         none.membership("join", "west"),
		"kubectl fleetscale join east --context admin@east --hub-context hub": hub.membership("join", "east"),
		"kubectl --context admin@east get x":                                  hub.member("east", "get", "x"),
		"kubectl --context west get x":                                        hub.member("west", "get", "x"),
	} {
		fleettest.Same(t, "command", want, got)
	}
}

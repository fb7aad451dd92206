// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func TestHelpShowsTheFlagsThatAreTaken(t *testing.T) {
	commandtest.HelpShowsFlags(t, func() *cobra.Command { return NewCommand(t.Context()) })
}

func TestHelpNamesAllThatIsActedOn(t *testing.T) {
	help := commandtest.Help(t, NewCommand(t.Context()))
	for _, name := range []string{
		"FederatedHPA, central mode", "replicaDistribution",
		"FederatedHPA, distributed mode", "federatedHPAAssignment",
		"CronFederatedHPA ",
	} {
		if !strings.Contains(help, name) {
			t.Errorf("--help does not say %q", name)
		}
	}
}

func TestItSaysItsVersion(t *testing.T) {
	metrics := "127.0.0.1:" + commandtest.FreePort(t)
	commandtest.SaysVersion(t, program, "http://"+metrics+"/metrics",
		"--metrics-bind-address="+metrics, "--health-probe-bind-address=0")
}

func TestTheLogNamesTheCheckThatFails(t *testing.T) {
	_, kubeconfig := commandtest.StartHub(t)
	health := "127.0.0.1:" + commandtest.FreePort(t)
	running := commandtest.Start(t, commandtest.Build(t), "--kubeconfig="+kubeconfig, "--health-probe-bind-address="+health,
		"--metrics-bind-address=0")
	commandtest.Get(t, "http://"+health+"/readyz", "[-]federatedhpas-known failed")
	for _, want := range []string{
		`"Not ready" check="federatedhpas-known" reason="waiting for the hub to list the objects"`,
		`"Not ready" check="cronfederatedhpas-known" reason="waiting for the hub to list the objects"`,
		`"Not ready" check="members-known" reason=`,
		`"Not ready" check="schema" reason=`,
	} {
		running.Says(t, want)
	}
}

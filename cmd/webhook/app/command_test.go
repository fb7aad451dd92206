// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func TestHelpShowsTheFlagsThatAreTaken(t *testing.T) {
	commandtest.HelpShowsFlags(t, func() *cobra.Command { return NewCommand(t.Context()) })
}

func TestItSaysItsVersion(t *testing.T) {
	metrics := "127.0.0.1:" + commandtest.FreePort(t)
	commandtest.SaysVersion(t, program, "http://"+metrics+"/metrics",
		"--metrics-bind-address="+metrics, "--health-probe-bind-address=0", "--bind-address=127.0.0.1", "--secure-port="+commandtest.FreePort(t))
}

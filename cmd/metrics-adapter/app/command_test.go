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
	port := commandtest.FreePort(t)
	commandtest.SaysVersion(t, program, "https://127.0.0.1:"+port+"/metrics",
		"--bind-address=127.0.0.1", "--secure-port="+port, "--authorization-always-allow-paths=/metrics",
		"--authentication-tolerate-lookup-failure")
}

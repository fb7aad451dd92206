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

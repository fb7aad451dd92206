// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// A person reads one plain line, and who collects logs a line of the log.
func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		person bool
		code   int
		want   string
	}{
		"it ends well":          {nil, true, 0, ""},
		"a person is told":      {errors.New("--kubeconfig: must be set"), true, 1, "error: --kubeconfig: must be set\n"},
		"a collector is logged": {errors.New("--kubeconfig: must be set"), false, 1, ""},
	} {
		var stderr bytes.Buffer
		cmd := &cobra.Command{Use: "program", RunE: func(*cobra.Command, []string) error { return tc.err }}
		cmd.SetArgs([]string{})
		fleettest.Same(t, name, tc.code, runOn(cmd, &stderr, tc.person))
		fleettest.Same(t, name, tc.want, stderr.String())
	}
}

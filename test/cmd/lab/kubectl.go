// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/test/lab"
)

func newKubectlCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:     "kubectl -- ARGS",
		Short:   "Run the lab's kubectl with a context for each cluster; the hub's is the current one",
		Example: "  lab kubectl -- get nodes\n  lab kubectl -- --context member1 top pods",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := lab.Load(*dir)
			if err != nil {
				return err
			}
			kubectl := l.Kubectl(cmd.Context(), args...)
			kubectl.Stdin, kubectl.Stdout, kubectl.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
			err = kubectl.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				os.Exit(exit.ExitCode()) // kubectl has said why
			}
			return err
		},
	}
}

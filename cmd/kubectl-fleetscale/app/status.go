// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/status"
)

const statusHelp = `Show the members of the fleet: each one's state and why, where it is registered, its version, which metrics APIs it
serves, how many of its Pods are measured, and how long ago it answered; with -o wide its clock, which credentials work, when the
first token expires, and what is wrong.

It is what kubectl get members prints, and a line of sums. You need the right to get and list members.members.fleetscale.io,
which the ClusterRole fleetscale-members-reader has, and so the role view for the whole hub.`

const statusExample = `  # All members, and one with everything that is known of it.
  kubectl fleetscale status
  kubectl fleetscale status east -o yaml

  # What is wrong with those that are not ready.
  kubectl fleetscale status -o wide`

func newStatusCommand(caller *plugin.Caller) *cobra.Command {
	var output plugin.Output
	cmd := &cobra.Command{
		Use: "status [NAME]", Short: "Show the members of the fleet", Long: statusHelp, Example: statusExample,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			hub, err := caller.Hub()
			if err != nil {
				return err
			}
			o := status.Options{Hub: hub, Output: &output, Out: caller.Out}
			if len(args) > 0 {
				o.Name = args[0]
			}
			return status.Run(cmd.Context(), o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			hub, err := caller.Hub()
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names, _ := status.Names(cmd.Context(), hub) // who completes is told of no errors
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	output.AddFlag(cmd)
	return cmd
}

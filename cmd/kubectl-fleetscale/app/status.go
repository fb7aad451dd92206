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

It is what kubectl get members prints, a line of sums, and how many autoscalers of each kind are in which state. Those that fail, are held
or are in conflict are named, with the reason: the first ten, the worst first; kubectl fleetscale explain says more of one. You need the
right to get and list members.members.fleetscale.io, which the ClusterRole fleetscale-members-reader has, and so the role view for the
whole hub. Without the right to list autoscalers in all namespaces these are not counted. JSON and YAML are of members only.

What can be read is shown. The exit code is 1 if members, or autoscalers of a kind, cannot be listed for another reason than that right.`

const statusExample = `  # All members, and one with everything that is known of it.
  kubectl fleetscale status
  kubectl fleetscale status east -o yaml

  # What is wrong with those that are not ready.
  kubectl fleetscale status -o wide`

func newStatusCommand(caller *plugin.Caller) *cobra.Command {
	var output plugin.Output
	cmd := &cobra.Command{
		Use: "status [NAME]", Short: "Show the members of the fleet, and how its autoscalers are", Long: statusHelp, Example: statusExample,
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

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/membership"
)

const leaveHelp = `Have a cluster leave the fleet.

Its registration is taken off the hub, and then, where --context leads to it, all that join granted is taken out of the cluster.
Its workloads stay as they are. PodSizes stay in force unless --delete-sizes is given. Another hub that uses the same accounts
loses its tokens.`

const leaveExamples = `  # The hub forgets the cluster, and the cluster the identities
  kubectl fleetscale leave east --context east

  # The cluster is gone
  kubectl fleetscale leave east`

func newLeaveCommand(caller *plugin.Caller) *cobra.Command {
	var (
		context string
		leave   membership.Leave
	)
	cmd := &cobra.Command{
		Use: "leave NAME [--context CONTEXT]", Short: "Have a cluster leave the fleet", Long: leaveHelp, Example: leaveExamples,
		Args: cobra.ExactArgs(1),
	}
	hub := newHubFlags(cmd, caller)
	cmd.Flags().StringVar(&context, "context", "", "Context of the kubeconfig that leads to the cluster that leaves.")
	cmd.Flags().BoolVar(&leave.DeleteSizes, "delete-sizes", false, "Delete the kind PodSizes and its policy too, and so all PodSizes.")
	cmd.Flags().BoolVarP(&leave.Yes, "yes", "y", false, "Do not ask.")
	completeContexts(cmd, caller, "context")
	cmd.ValidArgsFunction = hub.oneMember
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		targets, err := hub.targets(membership.Choice{Args: args, Context: context})
		if err != nil {
			return err
		}
		if leave.Target = targets[0]; leave.DeleteSizes && leave.Target.Context == "" {
			return errors.New("--delete-sizes: needs --context, since they are in the cluster")
		}
		h, err := hub.connect(cmd.Context())
		if err != nil {
			return err
		}
		return leave.Run(cmd.Context(), caller.IOStreams, h, caller.Context)
	}
	return cmd
}

// oneMember offers the names of registered clusters until one is given.
func (h *hubFlags) oneMember(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return h.members(cmd, args, typed)
}

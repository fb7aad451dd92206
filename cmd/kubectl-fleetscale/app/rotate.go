// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/membership"
)

const rotateHelp = `Give clusters new tokens.

Without a context the controller-manager is asked to renew the tokens now, as it does at two thirds of their life. With one, you
get the tokens by your own rights in the cluster, which also works where nobody renews them. The clusters stay Ready.

Former tokens are accepted until they expire. --revoke ends them within ten seconds, by replacing the accounts; the cluster is silent until
the hub has the new ones, some seconds. Another hub that uses the same accounts loses its tokens.`

const rotateExamples = `  # New tokens for one cluster, and for all
  kubectl fleetscale rotate east
  kubectl fleetscale rotate --all

  # By your own rights, as where the cluster joined with --read-only
  kubectl fleetscale rotate east --context east

  # Somebody may have stolen one
  kubectl fleetscale rotate east --context east --revoke`

func newRotateCommand(caller *plugin.Caller) *cobra.Command {
	var (
		choice membership.Choice
		rotate membership.Rotate
		all    bool
	)
	cmd := &cobra.Command{
		Use: "rotate NAME... | NAME=CONTEXT... | --all", Short: "Give clusters new tokens", Long: rotateHelp, Example: rotateExamples,
		Args: cobra.ArbitraryArgs,
	}
	hub := newHubFlags(cmd, caller)
	fs := cmd.Flags()
	fs.StringVar(&choice.Context, "context", "", "Context of the kubeconfig that leads to the cluster.")
	fs.BoolVar(&all, "all", false, "All clusters that Secrets register.")
	fs.BoolVar(&rotate.Revoke, "revoke", false, "End all former tokens, within ten seconds.")
	fs.DurationVar(&rotate.TokenExpiry, "token-expiry", 0,
		"How long tokens last that you get by your own rights. (default as long as the present ones)")
	fs.StringVar(&rotate.Server, "server", "", "Address at which the hub reaches the cluster, if it joined by another than the context's.")
	fs.DurationVar(&rotate.Timeout, "timeout", 2*time.Minute, "How long to wait for the hub.")
	completeContexts(cmd, caller, "context")
	cmd.ValidArgsFunction = hub.members
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all == (len(args) > 0) || all && choice.Context != "" {
			return errors.New("give the names of clusters, or --all")
		}
		h, err := hub.connect(cmd.Context())
		if err != nil {
			return err
		}
		if choice.Args = args; all {
			rotate.Targets, err = h.All()
		} else {
			rotate.Targets, err = hub.targets(choice)
		}
		if err != nil {
			return err
		}
		if err := rotate.Validate(); err != nil {
			return err
		}
		return rotate.Run(cmd.Context(), caller.IOStreams, h, caller.Context)
	}
	return cmd
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/membership"
)

// defaultTokenExpiry is how long the tokens of members last.
const defaultTokenExpiry = 720 * time.Hour

const joinHelp = `Have clusters join the fleet.

In the cluster, which your kubeconfig reaches by --context, two identities get the least rights that fleetscale needs: one
reads metrics, the other scales. On the hub, Secrets with tokens of them register the cluster. The command succeeds once the
programs on the hub reach it.

A join that was cut off, or that failed, can be run again: it continues with what is there. Rights are added, and none are taken
away: to restrict a member, have it leave, and join it again.`

const joinExamples = `  # The cluster of the context east joins under the name east
  kubectl fleetscale join east --context east

  # The hub reaches it at another address than you do
  kubectl fleetscale join east --context east --server https://10.0.0.5:6443

  # Metrics only
  kubectl fleetscale join east --context east --read-only

  # Several at once, and all whose contexts match
  kubectl fleetscale join east=admin@east west=admin@west
  kubectl fleetscale join --contexts 'prod-*'

  # What would be applied
  kubectl fleetscale join east --context east --dry-run=client`

func newJoinCommand(caller *plugin.Caller) *cobra.Command {
	var (
		choice membership.Choice
		join   membership.Join
		yes    bool
	)
	cmd := &cobra.Command{
		Use:               "join NAME --context CONTEXT | NAME=CONTEXT... | --contexts PATTERN",
		Short:             "Have clusters join the fleet",
		Long:              joinHelp,
		Example:           joinExamples,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	hub := newHubFlags(cmd, caller)
	fs := cmd.Flags()
	fs.StringVar(&choice.Context, "context", "", "Context of the kubeconfig that leads to the cluster that joins.")
	fs.StringVar(&choice.Contexts, "contexts", "",
		"Pattern of contexts, such as 'prod-*': their clusters join under the names of the contexts, but for the hub's.")
	fs.BoolVar(&join.ReadOnly, "read-only", false, "Grant the right to read metrics, and no other: nothing is scaled in the cluster.")
	fs.StringSliceVar(&join.Namespaces, "namespaces", nil,
		"Namespaces in which rights are granted, as the programs' flag of this name says. (default all)")
	fs.StringSliceVar(&join.CreateIn, "create-workloads-in", nil,
		"Namespaces in which FederatedHPAs may create workloads that the cluster lacks, or '*'. (default none)")
	fs.BoolVar(&join.Sizes, "sizes", false, "Have MultidimPodAutoscalers give Pods their size; needs Kubernetes 1.36 or later.")
	fs.DurationVar(&join.TokenExpiry, "token-expiry", defaultTokenExpiry, "How long tokens last; the controller-manager renews them before.")
	fs.StringVar(&join.Server, "server", "", "Address at which the hub reaches the cluster. (default that of the context)")
	fs.BoolVar(&join.AllowLocal, "allow-local-members", false,
		"Allow loopback and link-local addresses. For laboratories, where the programs have this flag too.")
	fs.BoolVar(&join.HubToo, "hub-too", false, "Allow the hub to join its own fleet.")
	fs.BoolVar(&join.Force, "force-conflicts", false, "Take over fields that somebody else has changed in the identities.")
	fs.DurationVar(&join.Timeout, "timeout", 2*time.Minute, "How long to wait for the hub to reach a cluster.")
	fs.StringVar(&join.DryRun, "dry-run", membership.DryRunNone,
		`"client" prints what would be applied, "server" also has both servers judge it; nothing is changed, and tokens are not shown.`)
	fs.Lookup("dry-run").NoOptDefVal = membership.DryRunClient
	fs.BoolVarP(&yes, "yes", "y", false, "Do not ask before the clusters that match --contexts join.")
	completeContexts(cmd, caller, "context")
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(
		[]string{membership.DryRunNone, membership.DryRunClient, membership.DryRunServer}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		choice.Args = args
		if join.Targets, err = hub.targets(choice); err != nil {
			return err
		}
		if err := join.Validate(); err != nil {
			return err
		}
		if join.DryRun == membership.DryRunClient {
			return join.Print(caller.Out, caller.Context, hub.places)
		}
		if choice.Contexts != "" && join.DryRun == membership.DryRunNone {
			question := fmt.Sprintf("%d clusters join: %s. Continue?", len(join.Targets), listed(join.Targets))
			if err := membership.Confirm(cmd.Context(), caller.IOStreams, yes, question); err != nil {
				return err
			}
		}
		h, err := hub.connect(cmd.Context())
		if err != nil {
			return err
		}
		return join.Run(cmd.Context(), caller.IOStreams, h, caller.Context)
	}
	return cmd
}

func listed(targets []membership.Target) string {
	var all []string
	for _, t := range targets {
		all = append(all, t.Name)
	}
	return strings.Join(all, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/cordon"
)

const whereHelp = `

A registration Secret gets an annotation, and a Karmada Cluster a taint; where both register the member, both do. Where another
source registers it, the error has the commands to annotate its object. Of Secrets only the metadata are read. You need list, get
and patch of Secrets in --cluster-namespace, or get and patch of clusters.cluster.karmada.io.`

const cordonHelp = `Let no more replicas go to a member: it keeps what it has.` + whereHelp + `

The annotation is fleetscale.io/cordon, and the taint that of ` + "`karmadactl cordon`" + `.`

const drainHelp = `Have others take over what a member runs: nobody waits for it while it is silent, so that it no longer keeps the fleet
from scaling in. What it still runs, and what that waits for, is listed by the statuses of FederatedHPAs (list
federatedhpas).` + whereHelp + `

The annotation is fleetscale.io/drain, and the taint has that key and the effect NoExecute, by which Karmada may evict what it placed.`

const uncordonHelp = `Undo ` + "`kubectl fleetscale cordon`" + ` and ` + "`kubectl fleetscale drain`" + `. Taints of a Karmada Cluster
that others set stay, and are told.` + whereHelp

func newCordonCommand(caller *plugin.Caller) *cobra.Command {
	return completeCordon(caller, cordon.Cordon, &cobra.Command{
		Use: "cordon MEMBER...", Short: "Let no more replicas go to a member", Long: cordonHelp,
		Example: `  kubectl fleetscale cordon east`,
	})
}

func newUncordonCommand(caller *plugin.Caller) *cobra.Command {
	return completeCordon(caller, cordon.Uncordon, &cobra.Command{
		Use: "uncordon MEMBER...", Short: "Undo cordon and drain", Long: uncordonHelp,
		Example: `  kubectl fleetscale uncordon east`,
	})
}

func newDrainCommand(caller *plugin.Caller) *cobra.Command {
	return completeCordon(caller, cordon.Drain, &cobra.Command{
		Use: "drain MEMBER...", Short: "Have others take over what a member runs", Long: drainHelp,
		Example: `  kubectl fleetscale drain east

  # Which FederatedHPAs have something there, and what would become of it.
  kubectl fleetscale drain east --dry-run=server`,
	})
}

// completeCordon adds what the commands have in common.
func completeCordon(caller *plugin.Caller, act cordon.Act, cmd *cobra.Command) *cobra.Command {
	var dry dryRun
	namespace := "fleetscale-clusters"
	dry.addFlag(cmd, "server")
	cmd.Flags().StringVar(&namespace, "cluster-namespace", namespace, "Namespace of the Secrets that register members.")
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		hub, err := registrations(caller, namespace)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		return offered(hub.Members(ctx), args, begun), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(cmd *cobra.Command, members []string) error {
		if err := dry.validate(); err != nil {
			return err
		}
		hub, err := registrations(caller, namespace)
		if err != nil {
			return err
		}
		var errs []error
		var done []string
		for _, member := range members { // one that fails does not hold up the others
			if err := hub.Apply(cmd.Context(), member, act, dry.server(), caller.Out); err != nil {
				errs = append(errs, err)
				continue
			}
			done = append(done, member)
		}
		if act == cordon.Drain && len(done) > 0 {
			errs = append(errs, printRemains(cmd.Context(), caller, hub, done))
		}
		return errors.Join(errs...)
	}
	return cmd
}

func registrations(caller *plugin.Caller, namespace string) (cordon.Hub, error) {
	config, err := caller.Hub()
	if err != nil {
		return cordon.Hub{}, err
	}
	hub := cordon.Hub{Namespace: namespace}
	if hub.Metadata, err = metadata.NewForConfig(config); err != nil {
		return hub, err
	}
	hub.Dynamic, err = dynamic.NewForConfig(config)
	return hub, err
}

// printRemains lists what the members still run. That it cannot be listed is no error: what was asked for is done.
func printRemains(ctx context.Context, caller *plugin.Caller, hub cordon.Hub, members []string) error {
	all, err := hub.Autoscalers(ctx)
	if err != nil {
		fmt.Fprintf(caller.ErrOut, "Warning: what the members still run is not known: %s\n", plugin.Said(err))
		return nil
	}
	for _, member := range members {
		left := cordon.Remains(all, member)
		if len(left) == 0 {
			fmt.Fprintf(caller.Out, "%s: no FederatedHPA has anything there\n", member)
			continue
		}
		fmt.Fprintf(caller.Out, "%s: still there:\n", member)
		if err := plugin.PrintTable(caller.Out, cordon.Table(left), false); err != nil {
			return err
		}
	}
	return nil
}

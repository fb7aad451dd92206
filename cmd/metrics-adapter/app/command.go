// SPDX-License-Identifier: Apache-2.0

// Package app makes the metrics adapter out of its parts.
package app

import (
	"context"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
)

const help = `The metrics adapter serves the metrics APIs on the hub of a fleet, for kubectl top and for autoscalers:

  metrics.k8s.io           cpu and memory of the pods and nodes in all member clusters
  custom.metrics.k8s.io    figures of pods and other objects, merged from the members' own custom metrics APIs
  external.metrics.k8s.io  figures of anything else, merged from the members' own external metrics APIs

It is an aggregated API server, and needs APIServices that lead to it;
` + "`metrics-adapter takeover`" + ` sets one where another server has the API already.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{
		Use:           "metrics-adapter",
		Short:         "Serve the metrics APIs for a whole fleet",
		Long:          help,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true, // the caller prints it, once
		RunE: func(*cobra.Command, []string) error {
			verflag.PrintAndExitIfRequested()
			if err := logsapi.ValidateAndApply(o.Logging, nil); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return run(ctx, o)
		},
	}
	sets := o.Flags()
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	width, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, sets, width)
	cmd.AddCommand(newTakeoverCommand(), newRestoreCommand())
	return cmd
}

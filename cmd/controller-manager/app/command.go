// SPDX-License-Identifier: Apache-2.0

// Package app makes the controller-manager out of its parts.
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

const help = `The controller-manager sets replicas, or the bounds of FederatedHPAs, at the times that CronFederatedHPAs give. It
watches the hub and writes to it. Of several replicas one works, and the others wait to take its place; what
must be remembered is in the status of the objects.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{
		Use:           "controller-manager",
		Short:         "Act on FederatedHPAs and CronFederatedHPAs",
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
	return cmd
}

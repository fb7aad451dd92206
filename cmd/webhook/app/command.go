// SPDX-License-Identifier: Apache-2.0

// Package app makes the webhook out of its parts.
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

const help = `The webhook completes FederatedHPAs and CronFederatedHPAs by their defaults, and refuses those that can not work,
with what to write instead. The hub's API server asks it before it stores one, as a MutatingWebhookConfiguration
and a ValidatingWebhookConfiguration say. It keeps nothing, and several replicas need no leader.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{
		Use:           "webhook",
		Short:         "Complete and judge FederatedHPAs and CronFederatedHPAs",
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

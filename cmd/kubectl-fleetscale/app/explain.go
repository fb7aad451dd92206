// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/explain"
)

func newExplainCommand(caller *plugin.Caller) *cobra.Command {
	o := explain.Options{}
	cmd := &cobra.Command{
		Use:   "explain (TYPE/NAME | TYPE NAME)",
		Short: "Say why an autoscaler decided what it did",
		Long: `Say why an autoscaler decided what it did, from its status alone.

A FederatedHPA in central mode (fhpa): what each metric was told, and the steps to the number of replicas. Each line with a = is a
calculation that can be redone: // drops the fraction, / does not. Amounts are in milli, so that they are whole numbers.
In distributed mode: what the bounds of each cluster add up from, and what its own autoscaler says.
A CronFederatedHPA (cronfhpa): what will set its target next, and which rule decides on what.
A MultidimPodAutoscaler (mpa): why Pods are to have their size, and why some do not have it.`,
		Example: `  # Why does the fleet run so many replicas of cart?
  kubectl fleetscale explain fhpa/cart -n shop

  # What will set its bounds next?
  kubectl fleetscale explain cronfhpa cart -n shop

  # The same for programs
  kubectl fleetscale explain fhpa/cart -n shop -o json`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeObjects(caller),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Words = args
			return explain.Run(cmd.Context(), caller, o)
		},
	}
	plugin.AddFormat(cmd, &o.Format, explain.Formats()...)
	addObserver(cmd, &o.Observer)
	return cmd
}

func newWhatIfCommand(caller *plugin.Caller) *cobra.Command {
	o := explain.WhatIfOptions{}
	cmd := &cobra.Command{
		Use:   "what-if (TYPE/NAME | TYPE NAME) --set FIELD=VALUE",
		Short: "Show what the last decision would have been by another spec",
		Long: `Show what the last decision of a FederatedHPA would have been by another spec, beside what it was.

It is made by the same rules, of the sums in status.explanation. In central mode bounds, targets, tolerances, policies and windows can be
set; in distributed mode bounds, scalingToZero and federatedHPAAssignment. What the sums do not tell is said, and not guessed. Nothing is
written.`,
		Example: `  # Would cart get more replicas if it were allowed to?
  kubectl fleetscale what-if fhpa/cart -n shop --set spec.maxReplicas=20

  # And with another target?
  kubectl fleetscale what-if fhpa/cart -n shop --set 'spec.metrics[0].resource.target.averageUtilization=60'`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeObjects(caller),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Words = args
			return explain.WhatIf(cmd.Context(), caller, o)
		},
	}
	cmd.Flags().StringArrayVar(&o.Set, "set", nil, "A field of the spec and its value: spec.maxReplicas=20. Can be given several times.")
	plugin.AddFormat(cmd, &o.Format, explain.Formats()...)
	addObserver(cmd, &o.Observer)
	return cmd
}

// addObserver adds --observer of what may be read there.
func addObserver(cmd *cobra.Command, observer *string) {
	cmd.Flags().StringVar(observer, "observer", "", "Address at which a controller-manager with --observe serves what it would decide, such "+
		"as http://127.0.0.1:8082 with kubectl port-forward. Empty: what the hub stores.")
}

func completeObjects(caller *plugin.Caller) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, last string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return explain.Complete(cmd.Context(), caller, args, last), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

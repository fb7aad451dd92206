// SPDX-License-Identifier: Apache-2.0

// Package app wires the commands of kubectl-fleetscale: flags, what they mean, and the package of pkg/plugin that does it.
package app

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/version"
)

const help = `Register the clusters of a fleet, see them, and understand what autoscalers decide.

Commands talk to the hub: the current context of your kubeconfig, or the one that --context names. In join, leave and rotate
--context names that of the cluster, and --hub-context that of the hub. Commands use your own rights, and no others.`

// NewCommand is the plugin.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	caller := plugin.NewCaller(streams)
	root := &cobra.Command{
		Use:           "kubectl-fleetscale",
		Short:         "Register, see and understand a fleet",
		Long:          help,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fleetscale"},
		Version:       version.Get().Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	caller.AddFlags(root.PersistentFlags())
	root.AddCommand(newTakeoverCommand(caller), newRestoreCommand(caller), newVersionCommand(caller), newLintCommand(caller))
	root.AddCommand(newCronCommand(caller), newPauseCommand(caller), newResumeCommand(caller), newTopCommand(caller))
	root.AddCommand(newCordonCommand(caller), newUncordonCommand(caller), newDrainCommand(caller))
	root.AddCommand(newJoinCommand(caller), newLeaveCommand(caller), newRotateCommand(caller), newStatusCommand(caller))
	root.AddCommand(newExplainCommand(caller))
	root.AddCommand(newWhatIfCommand(caller))
	root.AddCommand(newDoctorCommand(caller))
	root.AddCommand(newDashboardCommand(caller))
	root.AddCommand(newRecordCommand(caller), newReplayCommand(caller))
	return root
}

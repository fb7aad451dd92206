// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/pause"
)

const pauseHelp = `Stop an autoscaler for a while; ` + "`kubectl fleetscale resume`" + ` takes it back.

A FederatedHPA (fhpa) and a MultidimPodAutoscaler (mpa) get spec.mode Paused: replicas and sizes stay as they are. In distributed
mode the HorizontalPodAutoscalers in the clusters go on scaling within the bounds that they have. Of a CronFederatedHPA (cronfhpa)
the rules that run are suspended; what they miss is not caught up.

With --scale-down only scale-in stops: behavior.scaleDown.selectPolicy becomes Disabled. In distributed mode the clusters'
autoscalers take that over.

What there was before is kept in the annotation ` + pause.BeforeAnnotation + `. You need get and patch of the objects.`

const pauseExample = `  kubectl fleetscale pause fhpa/web -n shop

  # During an incident: add replicas, but take none away.
  kubectl fleetscale pause --scale-down fhpa web api -n shop

  # What would become of it, by the webhook too.
  kubectl fleetscale pause mpa/sizes cronfhpa/office -n shop --dry-run=server`

const resumeHelp = `Undo ` + "`kubectl fleetscale pause`" + `, with --scale-down or without: the mode, the policy of
scale-in and the rules are again what they were.

What others wrote stays: a mode Observe, scale-in that was disabled by hand, rules that were suspended before.`

const resumeExample = `  kubectl fleetscale resume fhpa/web -n shop

  kubectl fleetscale resume fhpa web api -n shop`

func newPauseCommand(caller *plugin.Caller) *cobra.Command {
	scaleDown := false
	cmd := &cobra.Command{
		Use: "pause KIND/NAME...", Short: "Stop an autoscaler for a while, or only its scale-in", Long: pauseHelp, Example: pauseExample,
	}
	cmd.Flags().BoolVar(&scaleDown, "scale-down", false, "Stop scale-in only.")
	return completePause(cmd, caller, func() pause.Act {
		if scaleDown {
			return pause.PauseScaleDown
		}
		return pause.Pause
	})
}

func newResumeCommand(caller *plugin.Caller) *cobra.Command {
	cmd := &cobra.Command{Use: "resume KIND/NAME...", Short: "Undo a pause", Long: resumeHelp, Example: resumeExample}
	return completePause(cmd, caller, func() pause.Act { return pause.Resume })
}

// completePause adds what both commands have in common.
func completePause(cmd *cobra.Command, caller *plugin.Caller, act func() pause.Act) *cobra.Command {
	var dry dryRun
	dry.addFlag(cmd, "server")
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.ValidArgsFunction = completeTargets(caller)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := dry.validate(); err != nil {
			return err
		}
		targets, err := pause.ParseTargets(args)
		if err != nil {
			return err
		}
		hub, namespace, err := dynamicHub(caller, false)
		if err != nil {
			return err
		}
		return pause.Apply(cmd.Context(), hub, namespace, targets, act(), dry.server(), caller.Out)
	}
	return cmd
}

// completeTargets offers kinds, and then names: KIND/NAME, or NAME after a KIND.
func completeTargets(caller *plugin.Caller) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		word, _, slash := strings.Cut(begun, "/")
		prefix := ""
		switch {
		case slash:
			prefix = word + "/"
		case len(args) > 0 && !strings.Contains(args[0], "/"):
			word = args[0]
		default:
			var kinds []string
			for _, kind := range pause.Words() {
				kinds = append(kinds, kind+"/")
			}
			return offered(kinds, nil, begun), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		resource, known := pause.Resource(word)
		hub, namespace, err := dynamicHub(caller, false)
		if !known || err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var found []string
		for _, name := range names(cmd.Context(), hub, v1alpha1.SchemeGroupVersion.WithResource(resource), namespace) {
			found = append(found, prefix+name)
		}
		return offered(found, args, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

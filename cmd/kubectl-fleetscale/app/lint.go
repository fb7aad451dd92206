// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/lint"
	"github.com/fleetscale/fleetscale/pkg/version"
)

const lintHelp = `Tell what the webhook would say of manifests, without a cluster.

FederatedHPAs, CronFederatedHPAs and MultidimPodAutoscalers are read strictly, completed by the defaults, and judged by the
rules of the webhook: each by itself, and beside all others of its namespace in these files, such as two autoscalers of
one workload. Documents of other kinds are ignored and counted. Of a folder, files that end in .yaml, .yml or .json are read.

What only the hub knows is not judged: what is stored there, which kinds it serves, what you may do, and the schemas of the
CustomResourceDefinitions; for these use ` + "`kubectl apply --dry-run=server`" + `.

The exit code is 0 if the hub would refuse nothing (there may be warnings), 1 if it would refuse something, and 2 if a file
could not be read or parsed; all others are judged nevertheless.`

const lintExample = `  kubectl fleetscale lint web.yaml

  # A tree, for a pipeline that shows findings beside the code.
  kubectl fleetscale lint -R deploy -o sarif > lint.sarif

  # What a chart or an overlay makes.
  kubectl kustomize overlays/production | kubectl fleetscale lint -`

const (
	exitRefused  = 1
	exitUnusable = 2
)

func newLintCommand(caller *plugin.Caller) *cobra.Command {
	var o lint.Options
	var format string
	cmd := &cobra.Command{
		Use:     "lint FILE|FOLDER|-...",
		Short:   "Tell what the webhook would say of manifests, without a cluster",
		Long:    lintHelp,
		Example: lintExample,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := plugin.ValidateFormat(format, lint.Formats()...); err != nil {
				return unusable(err)
			}
			o.Paths, o.In, o.Namespace = args, caller.In, namespaceOf(cmd)
			count, erase := progress(caller.ErrOut)
			o.Progress = count
			report, err := lint.Lint(cmd.Context(), o)
			erase()
			if err != nil {
				return err
			}
			if err := report.Print(caller.Out, format, version.Get().Version); err != nil {
				return err
			}
			switch {
			case len(report.Unusable) > 0:
				return unusable(nil)
			case report.Refused():
				return &plugin.ExitError{Code: exitRefused}
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&o.Recursive, "recursive", "R", false, "Read the folders below folders too, but for those whose names begin with a dot.")
	plugin.AddFormat(cmd, &format, lint.Formats()...)
	return cmd
}

func unusable(err error) error { return &plugin.ExitError{Code: exitUnusable, Err: err} }

// namespaceOf is that of --namespace, and no kubeconfig is read: the same files have the same findings everywhere.
func namespaceOf(cmd *cobra.Command) string {
	if flag := cmd.Flag("namespace"); flag != nil && flag.Value.String() != "" {
		return flag.Value.String()
	}
	return "default"
}

// progress counts on a terminal.
func progress(w io.Writer) (count func(files int), erase func()) {
	say, erase := progressLine(w)
	return func(files int) {
		if files%50 == 0 {
			say(fmt.Sprintf("%d files read", files))
		}
	}, erase
}

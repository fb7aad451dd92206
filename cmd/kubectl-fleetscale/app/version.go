// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/version"
)

const versionHelp = `Print which build of the plugin this is: its version, the commit, and Go's version. No cluster is asked.`

const versionExample = `  kubectl fleetscale version

  # For a script.
  kubectl fleetscale version -o json`

// versionInfo is what the formats for programs print.
type versionInfo struct {
	Version   string `json:"version"`
	Revision  string `json:"revision"`
	Modified  bool   `json:"modified"`
	GoVersion string `json:"goVersion"`
}

func newVersionCommand(caller *plugin.Caller) *cobra.Command {
	var output plugin.Output
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the plugin",
		Long:    versionHelp,
		Example: versionExample,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			build := version.Get()
			info := versionInfo{build.Version, build.Revision, build.Modified, build.Go}
			return output.Print(caller.Out, versionTable(info), info)
		},
	}
	output.AddFlag(cmd)
	return cmd
}

func versionTable(info versionInfo) *metav1.Table {
	return &metav1.Table{
		ColumnDefinitions: []metav1.TableColumnDefinition{
			{Name: "Version", Type: "string"}, {Name: "Revision", Type: "string"}, {Name: "Modified", Type: "boolean"}, {Name: "Go", Type: "string"},
		},
		Rows: []metav1.TableRow{{Cells: []any{info.Version, info.Revision, info.Modified, info.GoVersion}}},
	}
}

// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fleetscale/fleetscale/pkg/version"
)

// addVersion adds --version.
func addVersion(cmd *cobra.Command, fs *pflag.FlagSet) {
	fs.Bool("version", false, "Print the version and quit.")
	cmd.Version = version.Get().Version
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")
}

// RegisterBuildInfo registers a metric that says which build this is. Its value
// is always 1.
func RegisterBuildInfo(reg prometheus.Registerer) {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "fleetscale", Name: "build_info",
		Help: "1, with the version and commit that the program is built from (modified: with changes after that commit), and Go's version.",
	}, []string{"version", "revision", "modified", "go_version"})
	reg.MustRegister(build)
	info := version.Get()
	build.WithLabelValues(info.Version, info.Revision, strconv.FormatBool(info.Modified), info.Go).Set(1)
}

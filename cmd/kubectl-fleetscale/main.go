// SPDX-License-Identifier: Apache-2.0

// Command kubectl-fleetscale is a plugin of kubectl: it registers the clusters of a fleet, shows them, and explains what
// autoscalers decide.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones of rules, wherever this runs

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/cmd/kubectl-fleetscale/app"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	code, said := plugin.ExitCode(app.NewCommand(streams).ExecuteContext(ctx))
	if said != "" {
		fmt.Fprintln(os.Stderr, "error:", said)
	}
	stop()
	os.Exit(code)
}

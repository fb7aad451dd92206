// SPDX-License-Identifier: Apache-2.0

// Command bench measures the metrics adapter beside its peers, on this machine,
// and writes a report: see "bench --help".
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fleetscale/fleetscale/test/bench/encoder"
	"github.com/fleetscale/fleetscale/test/bench/webhook"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is a benchmark, or a process that one of them starts.
func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case encoder.Argument:
			return encoder.Serve(os.Stdin, os.Stdout)
		case webhook.Argument:
			return webhook.ServeEmpty(args[1:])
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return newCommand().ExecuteContext(ctx)
}

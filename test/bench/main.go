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
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == encoder.Argument {
		if err := encoder.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

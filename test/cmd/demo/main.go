// SPDX-License-Identifier: Apache-2.0

// Command demo shows "kubectl top", a custom metric and an autoscaler over two
// real clusters on this machine; with -mode=distributed, how an autoscaler is
// split among three; with -mode=multidim, what Pods should request; with
// -mode=sim, in seconds, what our programs say of simulated clusters. It checks
// what it shows, and exits with 1 if that is not as promised.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	mode := flag.String("mode", central, "What to show: "+central+", "+distributed+", "+multidim+" or "+simulated+".")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Stdout, *mode)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "\ndemo: interrupted; everything that it started has ended")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Command keeper waits for the end of a lab's owner, and then ends the lab. The
// owner holds the other end of keeper's standard input: however it dies, even
// by SIGKILL, the kernel closes it. An owner who writes one byte lets go of the
// lab, which then stays.
package main

import (
	"fmt"
	"os"

	"github.com/fleetscale/fleetscale/test/lab/internal/process"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: keeper DIR < pipe held by the owner")
		os.Exit(2)
	}
	if n, _ := os.Stdin.Read(make([]byte, 1)); n > 0 {
		return
	}
	if err := process.Open(os.Args[1]).EndAll(); err != nil {
		fmt.Fprintln(os.Stderr, "ending the lab:", err)
		os.Exit(1)
	}
}

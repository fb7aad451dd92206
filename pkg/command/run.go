// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/component-base/cli"
	"k8s.io/klog/v2"
)

// Run runs a program, and returns its exit code. Why it ends is logged for who collects logs, and printed in plain words for a
// person at a terminal.
func Run(cmd *cobra.Command) int {
	return runOn(cmd, os.Stderr, term.IsTerminal(int(os.Stderr.Fd())))
}

func runOn(cmd *cobra.Command, stderr io.Writer, person bool) int {
	err := cli.RunNoErrOutput(cmd)
	switch {
	case err == nil:
		return 0
	case person:
		fmt.Fprintln(stderr, "error:", err)
	default:
		klog.Background().Error(err, "Command failed")
		klog.Flush()
	}
	return 1
}

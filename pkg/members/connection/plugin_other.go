// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package connection

import "os/exec"

// runWithChildren ends no children: there are no groups of processes.
func runWithChildren(cmd *exec.Cmd) error { return cmd.Run() }

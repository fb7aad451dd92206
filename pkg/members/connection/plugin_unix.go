// SPDX-License-Identifier: Apache-2.0

//go:build unix

package connection

import (
	"errors"
	"os/exec"
	"syscall"
)

// runWithChildren has what a program started end with it: a script's commands are processes of their own.
func runWithChildren(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if cmd.Process != nil && syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) == nil { // the id is the group's while one of it is left
		go reap(cmd.Process.Pid)
	}
	return err
}

// reap waits for what is left of a group. In a container we are process 1, whose children they become, and nobody else does.
func reap(group int) {
	for {
		if _, err := syscall.Wait4(-group, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

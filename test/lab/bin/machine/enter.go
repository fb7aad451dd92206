// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// enter becomes a program in the network that a process holds.
func enter(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: machine enter PROCESS PROGRAM ARGUMENTS")
	}
	process, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	namespace, err := namespaceOf(process)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the one that becomes the program
	if err := enterNamespace(namespace); err != nil {
		return fmt.Errorf("entering the network of process %d: %w", process, err)
	}
	return syscall.Exec(args[1], args[1:], os.Environ())
}

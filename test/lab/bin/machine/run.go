// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// run starts the node and relays the connections to its kubelet until it ends.
func run(o options, args []string) error {
	groups, err := groupsCalled("fleetscale-" + strconv.Itoa(os.Getpid()))
	if err != nil {
		return fmt.Errorf("finding the cgroups of %s: %w", o.name, err)
	}
	swept, err := startSweep(groups)
	if err != nil {
		return err
	}
	defer func() { _ = swept.Close() }()
	inside, err := networkOf(o.network)
	if err != nil {
		return fmt.Errorf("entering the network of %s: %w", o.name, err)
	}
	kubelet, err := listen("tcp4", loopback(o.kubeletPort))
	if err != nil {
		return fmt.Errorf("listening for the kubelet of %s: %w", o.name, err)
	}
	go relay(kubelet, func() (stream, error) { return inside.dial(loopback(o.kubeletPort)) })
	return inNode(o, groups, inside, args)
}

// inNode runs init in namespaces of its own, and waits for its end. The root of its cgroups is where we are when it starts, so
// we go there and come back; init waits for that, since a group of version 2 has either processes or groups with limits.
func inNode(o options, groups []group, inside *network, args []string) error {
	if err := each(groups, group.enter); err != nil {
		return fmt.Errorf("entering the cgroups of %s: %w", o.name, err)
	}
	cmd := exec.Command("/proc/self/exe", append([]string{"init"}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	goOn, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", o.name, err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWCGROUP,
		Pdeathsig:  syscall.SIGKILL, // when the thread of the network ends, which is with us
	}
	err = inside.do(cmd.Start)
	if err := errors.Join(err, each(groups, group.leave)); err != nil {
		return fmt.Errorf("starting %s: %w", o.name, err)
	}
	if err := goOn.Close(); err != nil {
		return fmt.Errorf("starting %s: %w", o.name, err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("node %s ended: %w", o.name, err)
	}
	return fmt.Errorf("node %s ended", o.name)
}

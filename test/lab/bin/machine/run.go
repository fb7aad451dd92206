// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// run starts the node and relays its connections until it ends.
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
	inside, err := newNetwork()
	if err != nil {
		return fmt.Errorf("making the network of %s: %w", o.name, err)
	}
	if err := relayAll(o, inside); err != nil {
		return err
	}
	return inNode(o, groups, inside, args)
}

// relayAll makes the API server reachable from inside, and the kubelet from outside.
func relayAll(o options, inside *network) error {
	apiServer, kubelet := loopback(o.apiServerPort), loopback(o.kubeletPort)
	var fromInside *net.TCPListener
	err := inside.do(func() (err error) {
		fromInside, err = net.ListenTCP("tcp4", apiServer)
		return err
	})
	if err != nil {
		return fmt.Errorf("listening for the API server in %s: %w", o.name, err)
	}
	fromOutside, err := net.ListenTCP("tcp4", kubelet)
	if err != nil {
		return fmt.Errorf("listening for the kubelet of %s: %w", o.name, err)
	}
	go relay(fromInside, func() (*net.TCPConn, error) { return net.DialTCP("tcp4", nil, apiServer) })
	go relay(fromOutside, func() (conn *net.TCPConn, err error) {
		err = inside.do(func() error {
			conn, err = net.DialTCP("tcp4", nil, kubelet)
			return err
		})
		return conn, err
	})
	return nil
}

func loopback(port int) *net.TCPAddr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

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

// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"io"
	"net"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// network is a network namespace of its own. A thread of this process lives in it, and does there what it is asked to. What
// it opens or starts stays there.
type network struct{ work chan func() }

func newNetwork() (*network, error) {
	n := &network{work: make(chan func())}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: nobody else may get this thread
		err := syscall.Unshare(syscall.CLONE_NEWNET)
		if err == nil {
			err = loopbackUp()
		}
		begun <- err
		for work := range n.work {
			work()
		}
	}()
	return n, <-begun
}

func (n *network) do(work func() error) error {
	done := make(chan error, 1)
	n.work <- func() { done <- work() }
	return <-done
}

func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// relay passes on what comes to a listener, until that is closed.
func relay(from *net.TCPListener, dial func() (*net.TCPConn, error)) {
	for {
		near, err := from.AcceptTCP()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = near.Close() }()
			far, err := dial()
			if err != nil {
				return // as if nobody listened
			}
			defer func() { _ = far.Close() }()
			join(near, far)
		}()
	}
}

// join copies both ways, until both are at their end.
func join(a, b *net.TCPConn) {
	ended := make(chan struct{})
	go func() {
		copyTo(a, b)
		close(ended)
	}()
	copyTo(b, a)
	<-ended
}

func copyTo(to, from *net.TCPConn) {
	_, _ = io.Copy(to, from)
	_ = to.CloseWrite()
	_ = from.CloseRead()
}

// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// outside is the address at which what listens outside, at 127.0.0.1, is reached inside. It is one that is meant for examples, so
// nobody else has it.
const outside = "192.0.2.1"

// network is a network namespace of its own. A thread of this process lives in it, and does there what it is asked to. What
// it opens or starts stays there.
type network struct {
	work      chan func()
	namespace *os.File
}

func newNetwork() (*network, error) {
	return networkBy(func() error { return syscall.Unshare(syscall.CLONE_NEWNET) })
}

// networkOf is that which another process holds.
func networkOf(process int) (*network, error) {
	namespace, err := namespaceOf(process)
	if err != nil {
		return nil, err
	}
	defer func() { _ = namespace.Close() }()
	return networkBy(func() error { return enterNamespace(namespace) })
}

func networkBy(enter func() error) (*network, error) {
	n := &network{work: make(chan func())}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: nobody else may get this thread
		err := enter()
		if err == nil {
			n.namespace, err = os.Open("/proc/thread-self/ns/net")
		}
		begun <- err
		for work := range n.work {
			work()
		}
	}()
	return n, <-begun
}

// namespaceOf finds that thread of a process which lives in another network than we do. It may be its first.
func namespaceOf(process int) (*os.File, error) {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/ns/net", process))
	if err != nil {
		return nil, err
	}
	ours, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		if name, err := os.Readlink(path); err == nil && name != ours {
			return os.Open(path)
		}
	}
	return nil, fmt.Errorf("process %d holds no network", process)
}

func enterNamespace(namespace *os.File) error {
	return unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
}

// do is for what is done at once: one waits for the other.
func (n *network) do(work func() error) error {
	done := make(chan error, 1)
	n.work <- func() { done <- work() }
	return <-done
}

const dialTimeout = 30 * time.Second

// dial has a thread of its own, since it may take long.
func (n *network) dial(address string) (stream, error) {
	type dialed struct {
		conn net.Conn
		err  error
	}
	done := make(chan dialed, 1)
	go func() {
		runtime.LockOSThread() // it ends with this function
		err := enterNamespace(n.namespace)
		var conn net.Conn
		if err == nil {
			conn, err = dialTCP(address)
		}
		done <- dialed{conn, err}
	}()
	d := <-done
	if d.err != nil {
		return nil, d.err
	}
	return d.conn.(*net.TCPConn), nil
}

// listen at all addresses, or at one.
func (n *network) listen(address string) (listener net.Listener, err error) {
	err = n.do(func() error {
		listener, err = listen("tcp4", address)
		return err
	})
	return listener, err
}

// prepare gives a new network the address of the outside, and a way to Services: what has none is refused before it could be
// directed elsewhere.
func (n *network) prepare(services string) error {
	_, to, err := net.ParseCIDR(services)
	if err != nil {
		return err
	}
	address := net.ParseIP(outside)
	return n.do(func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(lo); err != nil {
			return err
		}
		if err := netlink.AddrAdd(lo, &netlink.Addr{IPNet: &net.IPNet{IP: address, Mask: net.CIDRMask(32, 32)}}); err != nil {
			return err
		}
		if err := netlink.RouteAdd(&netlink.Route{LinkIndex: lo.Attrs().Index, Dst: to, Src: address}); err != nil {
			return err
		}
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644) // of this network: that is whose file it is
	})
}

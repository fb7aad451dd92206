// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// front passes connections on to replicas in turn, as a Service does: it leaves
// those that exist alone, and does not look inside.
type front struct {
	listener net.Listener

	mu   sync.Mutex
	to   []string
	next int
}

func newFront() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the hub: %w", err)
	}
	f := &front{listener: listener}
	go f.accept()
	return f, nil
}

// Port is where it listens.
func (f *front) Port() int { return f.listener.Addr().(*net.TCPAddr).Port }

// Close ends it; connections go on.
func (f *front) Close() error { return f.listener.Close() }

// leadTo has new connections go to these replicas. None: they are refused.
func (f *front) leadTo(replicas ...*fixture.Webhook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = nil
	for _, w := range replicas {
		f.to = append(f.to, fmt.Sprintf("127.0.0.1:%d", w.Port))
	}
}

func (f *front) choose() (address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.to) == 0 {
		return ""
	}
	f.next++
	return f.to[f.next%len(f.to)]
}

func (f *front) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return
		}
		go f.pass(conn.(*net.TCPConn))
	}
}

func (f *front) pass(from *net.TCPConn) {
	defer from.Close()
	to, err := net.Dial("tcp", f.choose())
	if err != nil {
		return
	}
	defer to.Close()
	half := func(dst, src *net.TCPConn, done chan<- struct{}) {
		_, _ = io.Copy(dst, src)
		_ = dst.CloseWrite()
		done <- struct{}{}
	}
	done := make(chan struct{}, 2)
	go half(to.(*net.TCPConn), from, done)
	go half(from, to.(*net.TCPConn), done)
	<-done
	<-done
}

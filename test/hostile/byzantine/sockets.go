// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"

	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// sockets listens for the server, or for an attack that speaks no HTTP.
type sockets struct {
	net.Listener

	settings *tls.Config

	mu    sync.Mutex
	ended context.Context                  // of the attack
	by    func(context.Context, *tls.Conn) // nil: the server
	open  map[*socket]struct{}
}

// socket is one that is known until it is closed.
type socket struct {
	net.Conn

	of *sockets
}

func newSockets(l net.Listener, settings *tls.Config) *sockets {
	return &sockets{Listener: l, settings: settings, open: map[*socket]struct{}{}}
}

// Accept implements net.Listener.
func (s *sockets) Accept() (net.Conn, error) {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &socket{conn, s}
		s.mu.Lock()
		s.open[c] = struct{}{}
		by, ended := s.by, s.ended
		s.mu.Unlock()
		if by == nil {
			return c, nil
		}
		go func() {
			defer context.AfterFunc(ended, c.reset)()
			measure.InIdleTime(func() { by(ended, tls.Server(c, s.settings)) })
			c.reset()
		}()
	}
}

// attack has connections taken by an attack from now on; nil: the server has them. Those there are break: they
// would serve the old way.
func (s *sockets) attack(ended context.Context, by func(context.Context, *tls.Conn)) {
	s.mu.Lock()
	changed := by != nil || s.by != nil
	s.ended, s.by = ended, by
	s.mu.Unlock()
	if changed {
		s.resetAll()
	}
}

func (s *sockets) behave() { s.attack(context.Background(), nil) }

func (s *sockets) resetAll() {
	s.mu.Lock()
	all := make([]*socket, 0, len(s.open))
	for c := range s.open {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		c.reset()
	}
}

// reset ends a connection without a word.
func (c *socket) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// Close implements net.Conn.
func (c *socket) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

type socketKey struct{}

// withSocket has a handler find the connection below its request.
func withSocket(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return context.WithValue(ctx, socketKey{}, conn)
}

// breakOff resets the connection that a question came by, with all others that it carries.
func (q question) breakOff() {
	if c, ok := q.Context().Value(socketKey{}).(*socket); ok {
		c.reset()
	}
}

// mute takes connections, and says nothing, not even who it is.
func mute(ended context.Context, _ *tls.Conn) { <-ended.Done() }

// frames speaks HTTP/2, but only of settings and pings, which have to be acknowledged.
func frames(ended context.Context, conn *tls.Conn) {
	const settings, ping = "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\x00\x08\x06\x00\x00\x00\x00\x00whatever"
	if conn.HandshakeContext(ended) != nil {
		return
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
	flood := bytes.Repeat([]byte(settings+ping), 100)
	p := pace{}
	for ended.Err() == nil && p.wait(ended) {
		if _, err := conn.Write(flood); err != nil {
			return
		}
		p.sent(len(flood))
	}
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net"
	"sync"
)

// sockets listens, and can be as if nobody did: connections are reset then, new
// ones and those there are.
type sockets struct {
	net.Listener

	mu   sync.Mutex
	away bool
	open map[*socket]struct{}
}

type socket struct {
	net.Conn

	of *sockets
}

func newSockets(l net.Listener) *sockets {
	return &sockets{Listener: l, open: map[*socket]struct{}{}}
}

// Accept implements net.Listener.
func (s *sockets) Accept() (net.Conn, error) {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if accepted := s.keep(conn); accepted != nil {
			return accepted, nil
		}
	}
}

func (s *sockets) keep(conn net.Conn) net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &socket{conn, s}
	if s.away {
		c.reset()
		return nil
	}
	s.open[c] = struct{}{}
	return c
}

func (s *sockets) setAway(away bool) {
	s.mu.Lock()
	s.away = away
	s.mu.Unlock()
	if away {
		s.resetAll()
	}
}

func (s *sockets) resetAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.reset()
		delete(s.open, c)
	}
}

// reset ends a connection without a word.
func (c *socket) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Conn.Close()
}

// Close implements net.Conn.
func (c *socket) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

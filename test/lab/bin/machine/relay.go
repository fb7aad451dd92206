// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// stream is a connection of which each direction ends by itself.
type stream interface {
	net.Conn
	CloseRead() error
	CloseWrite() error
}

// serveNetwork makes a network and serves it until it fails.
func serveNetwork(socket, services string, ports []int) error {
	inside, err := newNetwork()
	if err == nil {
		err = inside.prepare(services)
	}
	if err != nil {
		return fmt.Errorf("making the network: %w", err)
	}
	for _, port := range ports {
		listener, err := inside.listen(":" + strconv.Itoa(port))
		if err != nil {
			return fmt.Errorf("listening for an API server: %w", err)
		}
		go relay(listener, func() (stream, error) { return dialOutside(loopback(port)) })
	}
	listener, err := listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listening for the API server: %w", err)
	}
	server := &http.Server{Handler: proxy{inside}, ReadHeaderTimeout: dialTimeout}
	return server.Serve(listener)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func dialOutside(address string) (stream, error) {
	conn, err := dialTCP(address)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// listen and dialTCP have no context to end with: all that is here ends with the program.
func listen(network, address string) (net.Listener, error) {
	return net.Listen(network, address) //nolint:noctx // see above
}

func dialTCP(address string) (net.Conn, error) {
	return net.DialTimeout("tcp4", address, dialTimeout) //nolint:noctx // see above
}

// proxy is what the API server asks for connections into the network. What it calls localhost is outside, as where it runs itself.
type proxy struct{ inside *network }

func (p proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "CONNECT only", http.StatusMethodNotAllowed)
		return
	}
	far, err := p.dial(r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = far.Close() }()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	near, ok := conn.(stream)
	if !ok || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	if _, err := io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n"); err == nil {
		join(near, far)
	}
}

func (p proxy) dial(address string) (stream, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	switch ip := net.ParseIP(host); {
	case host == "localhost", ip != nil && ip.IsLoopback():
		return dialOutside(address)
	case ip == nil:
		return nil, errors.New("there are no names in the network")
	}
	return p.inside.dial(address)
}

// relay passes on what comes to a listener, until that is closed.
func relay(from net.Listener, dial func() (stream, error)) {
	for {
		conn, err := from.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			far, err := dial()
			if err != nil {
				return // as if nobody listened
			}
			defer func() { _ = far.Close() }()
			join(conn.(*net.TCPConn), far)
		}()
	}
}

// join copies both ways, until both are at their end.
func join(a, b stream) {
	ended := make(chan struct{})
	go func() {
		copyTo(a, b)
		close(ended)
	}()
	copyTo(b, a)
	<-ended
}

func copyTo(to, from stream) {
	_, _ = io.Copy(to, from)
	_ = to.CloseWrite()
	_ = from.CloseRead()
}

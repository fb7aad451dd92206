// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// way is a proxy through which one replica sends all it sends. It leads to this machine, whatever host is asked for, from an address that
// tells one life of the replica from all others.
type way struct {
	listener net.Listener

	mu   sync.Mutex
	from string
	// cut is the port to which nothing gets through, in both directions, without a word; empty: none.
	cut string
	// passes has the two ends of each connection, by port.
	passes map[net.Conn]string
}

func newWay(t *testing.T) *way {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{listener: listener, passes: map[net.Conn]string{}}
	t.Cleanup(func() { _ = listener.Close() })
	go w.accept(context.WithoutCancel(t.Context())) // it ends when the listener is closed
	return w
}

// environment has a program go this way.
func (w *way) environment() []string {
	return []string{"HTTPS_PROXY=http://" + w.listener.Addr().String(), "NO_PROXY=", "no_proxy="}
}

// start has what comes from now on come from that address.
func (w *way) start(from string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from = from
}

// partition has what is sent to a port, and from it, be lost.
func (w *way) partition(port string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = port
}

// heal ends a partition. What was sent meanwhile stays lost: the connections are closed.
func (w *way) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn, port := range w.passes {
		if port == w.cut {
			_ = conn.Close()
		}
	}
	w.cut = ""
}

func (w *way) accept(ctx context.Context) {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.pass(ctx, conn)
	}
}

// pass connects whoever asks.
func (w *way) pass(ctx context.Context, near net.Conn) {
	defer near.Close()
	reader := bufio.NewReader(near)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect {
		return
	}
	_, port, err := net.SplitHostPort(request.Host)
	if err != nil {
		return
	}
	defer w.enters(near, port)()
	if w.isCut(port) {
		_, _ = io.Copy(io.Discard, near) // until the partition ends, or it gives up
		return
	}
	w.mu.Lock()
	from := w.from
	w.mu.Unlock()
	far, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(ctx, "tcp", "127.0.0.1:"+port)
	if err != nil {
		return
	}
	defer far.Close()
	defer w.enters(far, port)()
	if _, err := fmt.Fprint(near, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	half := func(to io.Writer, from io.Reader) {
		w.carry(to, from, port)
		ended <- struct{}{}
	}
	go half(far, reader)
	go half(near, far)
	<-ended // both are closed then
}

// carry copies what gets through.
func (w *way) carry(to io.Writer, from io.Reader, port string) {
	room := make([]byte, 32<<10)
	for {
		n, err := from.Read(room)
		if n > 0 && !w.isCut(port) {
			if _, err := to.Write(room[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *way) isCut(port string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut == port
}

func (w *way) enters(conn net.Conn, port string) (leaves func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passes[conn] = port
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.passes, conn)
	}
}

// What is lost in a partition does not come later, and another port is not concerned.
func TestWayThatIsCut(t *testing.T) {
	needsAddresses(t)
	w := newWay(t)
	w.start("127.0.0.9")
	cut, cutSees := echo(t)
	free, freeSees := echo(t)
	a, b := w.connect(t, cut), w.connect(t, free)
	says(t, a, "before")
	if got := <-cutSees; got != "127.0.0.9" {
		t.Errorf("it comes from %s", got)
	}
	<-freeSees
	w.partition(cut)
	if _, err := io.WriteString(a, "lost\n"); err != nil {
		t.Fatal(err)
	}
	says(t, b, "during")
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", w.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "CONNECT any:%s HTTP/1.1\r\nHost: any:%s\r\n\r\n", cut, cut); err != nil {
		t.Fatal(err)
	}
	const ends = 2 + 2 + 1 // of the first two, and of the one that waits
	if err := fixture.Await(t.Context(), patience, func(context.Context) error { return w.has(ends) }); err != nil {
		t.Fatal(err)
	}
	w.heal()
	for name, conn := range map[string]net.Conn{"the one before": a, "the one during it": c} {
		if got, err := io.ReadAll(conn); err == nil && len(got) > 0 {
			t.Errorf("%s: got %q", name, got)
		}
	}
	says(t, b, "after")
	says(t, w.connect(t, cut), "again")
}

func (w *way) has(ends int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.passes) != ends {
		return fmt.Errorf("it knows %d ends of connections, want %d", len(w.passes), ends)
	}
	return nil
}

// echo answers with what it gets, and tells who came.
func echo(t *testing.T) (port string, sees <-chan string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	came := make(chan string, 8)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
			came <- host
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, came
}

func (w *way) connect(t *testing.T, port string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", w.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	const answer = "HTTP/1.1 200 OK\r\n\r\n"
	if _, err := fmt.Fprintf(conn, "CONNECT any:%s HTTP/1.1\r\nHost: any:%s\r\n\r\n", port, port); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(answer))
	if _, err := io.ReadFull(conn, got); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 200") {
		t.Fatalf("%v: %q", err, got)
	}
	return conn
}

func says(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text+"\n"); err != nil {
		t.Fatal(err)
	}
	got, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || got != text+"\n" {
		t.Errorf("%v: got %q, want %q", err, got, text)
	}
}

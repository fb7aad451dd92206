// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// flooding is the address of a server that speaks HTTP/2, but only of settings and pings, which have to be acknowledged.
func flooding(t *testing.T, sent *atomic.Int64) string {
	t.Helper()
	honest := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(honest.Close)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: honest.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	const many = 1000 // settings that nobody knows in each frame, lest the test be of how long acknowledging takes
	flood := append([]byte{0, 6 * many >> 8, 6 * many & 0xff, 4, 0, 0, 0, 0, 0}, strings.Repeat("\xf0\x00\x00\x00\x00\x00", many)...)
	flood = append(flood, "\x00\x00\x08\x06\x00\x00\x00\x00\x00whatever"...)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			go func() {
				defer conn.Close()
				for {
					n, err := conn.Write(flood)
					sent.Add(int64(n))
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return "https://" + listener.Addr().String()
}

// A cluster that sends frames of HTTP/2 without end is found to misbehave at once, and its connection ends.
func TestChatter(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	misbehaves := make(chan *fleet.Silence, 100)
	p := NewPeer("east", Options{AllowLocal: true, Timeout: time.Minute}.WithDefaults(), nil, func(fleet.Reason) {},
		func(s *fleet.Silence) { misbehaves <- s })
	conn, err := p.Connect(registration.Endpoint{Config: &rest.Config{
		Host: flooding(t, &sent), TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = conn.Get(t.Context(), "/api"); err == nil {
		t.Error("there was an answer")
	}
	select {
	case s := <-misbehaves:
		if !strings.Contains(s.Detail, "belongs to no answer") || s.Reason != fleet.ReasonBadAnswer {
			t.Errorf("misbehaves: %v", s)
		}
	case <-time.After(time.Minute):
		t.Fatalf("after %d bytes nothing was said", sent.Load())
	}
}

// Answers are no chatter, large and small, read and given up.
func TestAnswersAreNoChatter(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("0123456789abcdef"), mostChatter/16)
	p, conn := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "large") {
			_, _ = w.Write(large)
			return
		}
		fmt.Fprint(w, strings.Repeat("x", 200))
	}), Options{QPS: 10_000, Burst: 10_000})
	var said atomic.Int64
	p.reading.intake.onMisconduct = func(*fleet.Silence) { said.Add(1) }
	for i := range 6 {
		if body, err := conn.Client().Get().AbsPath("/large").Do(t.Context()).Raw(); err != nil || len(body) != len(large) {
			t.Fatalf("%d bytes, error %v", len(body), err)
		}
		for range 20 {
			if _, err := conn.Client().Get().AbsPath("/small").Do(t.Context()).Raw(); err != nil {
				t.Fatal(err)
			}
		}
		given, err := conn.WatchClient().Get().AbsPath("/large").Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, given, int64(i)); err != nil {
			t.Fatal(err)
		}
		given.Close()
	}
	if said.Load() != 0 {
		t.Errorf("that is taken for misconduct %d times", said.Load())
	}
}

// What comes slowly is forgotten, such as handshakes that fail for days, and pages of a proxy that nobody reads.
func TestChatterWanes(t *testing.T) {
	var c chatter
	now := time.Unix(1_700_000_000, 0)
	const each, period = 300 << 10, 10 * time.Second
	for i := range 10_000 {
		if now = now.Add(period); c.received(each, now) {
			t.Fatalf("after %v it is too much", time.Duration(i)*period)
		}
	}
	for i := range 1000 {
		if now = now.Add(time.Second / 100); c.received(each, now) {
			if i < mostChatter/each-2 { // what was there before counts
				t.Errorf("%d bytes are too much", (i+1)*each)
			}
			return
		}
	}
	t.Error("thirty MiB a second are never too much")
}

// Events of a watch, which nobody asks for, do not make up for offences.
func TestEventsMakeUpForLittle(t *testing.T) {
	var i intake
	now, good := time.Unix(1_700_000_000, 0), 0
	for range 1000 {
		now = now.Add(5 * time.Millisecond)
		if i.creditsEvent(now) {
			good++
		}
	}
	if good < 5 || good > 6 {
		t.Errorf("%d of the events of 5 s count as good answers, want one a second", good)
	}
}

// A list of Pod metrics nearly all of which nobody asked for is misconduct; fewer such items are dropped and counted.
func TestUnaskedMetrics(t *testing.T) {
	said := 0
	r := NewReading()
	r.intake.onMisconduct = func(*fleet.Silence) { said++ }
	if err := r.Measured("pods", mostUnasked-1); err != nil || said != 0 {
		t.Errorf("error %v, misconduct %d times", err, said)
	}
	wantReason(t, r.Measured("pods", mostUnasked), fleet.ReasonBadAnswer, "100000 items or more that nobody asked for")
	if said != 1 {
		t.Errorf("misconduct was said %d times", said)
	}
}

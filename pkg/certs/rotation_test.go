// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/cert"
)

// memoryListener accepts what dial dials, without a network: its waits are seen by synctest.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func listenInMemory() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { close(l.done); return nil }
func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (l *memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, errors.New("nobody listens")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// program is a replica that serves over TLS. A request for /5m takes five minutes.
type program struct {
	*Keeper
	listener *memoryListener
}

func startProgram(t *testing.T, k *Keeper) *program {
	p := &program{k, listenInMemory()}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if pause, err := time.ParseDuration(r.URL.Path[1:]); err == nil {
				time.Sleep(pause)
			}
			_, _ = io.WriteString(w, "admitted")
		}),
		ErrorLog: nil,
	}
	go func() { _ = server.Serve(tls.NewListener(p.listener, &tls.Config{GetCertificate: k.GetCertificate})) }()
	t.Cleanup(func() { _ = server.Close() })
	return p
}

// tally is what the API servers saw.
type tally struct {
	mu       sync.Mutex
	requests int
	faults   []error
	served   map[string]map[int]bool // minutes in which a certificate was met, by its serial number
}

func (c *tally) add(err error, serial string, minute int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	if err != nil {
		c.faults = append(c.faults, err)
		return
	}
	if c.served[serial] == nil {
		c.served[serial] = map[int]bool{}
	}
	c.served[serial][minute] = true
}

// apiServer asks the replicas, and trusts what it read from the hub a while ago.
type apiServer struct {
	hub    *fakeHub
	lag    time.Duration
	begin  time.Time
	counts *tally
	asking sync.WaitGroup
}

// client is one for a bundle, as an API server makes it.
func (a *apiServer) client(p *program, bundle string) *http.Client {
	pem, _ := base64.StdEncoding.DecodeString(bundle)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &http.Client{Transport: &http.Transport{
		DialContext:     p.listener.dial,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "webhook.fleetscale-system.svc"},
		IdleConnTimeout: 25 * time.Second,
	}}
}

func (a *apiServer) ask(client *http.Client, path string) {
	at := time.Since(a.begin)
	serial := ""
	err := func() error {
		response, err := client.Get("https://webhook" + path)
		if err != nil {
			return fmt.Errorf("after %v: %w", at, err)
		}
		defer response.Body.Close()
		serial = response.TLS.PeerCertificates[0].SerialNumber.String()
		body, err := io.ReadAll(response.Body)
		if string(body) != "admitted" {
			return fmt.Errorf("after %v: %q, %w", at, body, err)
		}
		return nil
	}()
	a.counts.add(err, serial, int(at/time.Minute))
}

// run asks every replica over a new connection and over an old one, and now and
// then for something that takes minutes.
func (a *apiServer) run(replicas []*program, until time.Duration) {
	const pause = 20 * time.Second
	kept, known := map[*program]*http.Client{}, ""
	for i := 0; time.Since(a.begin) < until; i++ {
		bundle := bundles(a.hub)[2]
		time.Sleep(a.lag)
		for _, p := range replicas {
			if bundle != known || kept[p] == nil {
				kept[p] = a.client(p, bundle)
			}
			fresh := a.client(p, bundle)
			a.ask(kept[p], "/")
			a.ask(fresh, "/")
			if i%6 == 0 {
				a.asking.Go(func() { a.ask(fresh, "/5m") })
			}
		}
		known = bundle
		time.Sleep(pause - a.lag)
	}
	a.asking.Wait()
}

// Over three generations of certificates every request is answered: those that
// take minutes too, and by a replica that the hub does not answer while the
// others change theirs.
func TestRotationDropsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, begin := newHub(t), time.Now()
		counts := &tally{served: map[string]map[int]bool{}}
		cutOff := func(*http.Request) int {
			if at := time.Since(begin); at > 14*time.Minute+30*time.Second && at < 19*time.Minute {
				return http.StatusServiceUnavailable
			}
			return 0
		}
		replicas := []*program{
			startProgram(t, replica(t, hub, freely)), startProgram(t, replica(t, hub, freely)), startProgram(t, replica(t, hub, cutOff)),
		}
		for i, p := range replicas {
			time.Sleep(time.Duration(i) * 3 * time.Second)
			go p.Run(quiet(t))
		}
		synctest.Wait()
		var running sync.WaitGroup
		for _, lag := range []time.Duration{0, 12 * time.Second} {
			a := &apiServer{hub: hub, lag: lag, begin: begin, counts: counts}
			running.Go(func() { a.run(replicas, 36*time.Minute) })
		}
		running.Wait()

		if len(counts.faults) > 0 {
			t.Errorf("%d of %d requests failed, the first: %v", len(counts.faults), counts.requests, counts.faults[0])
		}
		if counts.requests < 1000 || len(counts.served) < 3 {
			t.Errorf("%d requests met %d certificates, want 1000 or more and 3", counts.requests, len(counts.served))
		}
		if trusted, err := cert.ParseCertsPEM(hub.data(t)["ca.crt"]); err != nil || len(trusted) != 1 {
			t.Errorf("%d authorities are trusted, %v; want only that of the last certificate that has not expired", len(trusted), err)
		}
		together := 0
		for _, minutes := range counts.served {
			if minutes[17] {
				together++
			}
		}
		if together != 2 {
			t.Errorf("%d certificates were served in minute 17, want the old one of the replica that was cut off, and the new one", together)
		}
	})
}

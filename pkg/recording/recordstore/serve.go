// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/fleetscale/fleetscale/pkg/recording"
)

const (
	// timeout bounds a request as a whole; who asks is one person.
	timeout = 2 * time.Minute
	// mostHeader bounds its header, in bytes.
	mostHeader = 16 << 10
)

// Path is where the record is, with the parameters namespace, name (both empty: all) and since (RFC 3339).
const Path = "/decisions"

// Serve answers on an address until ctx ends. Whoever reaches the address is answered: so it is one that leads to this machine, or Pod,
// alone.
func (s *Store) Serve(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serving the record of decisions: %w", err)
	}
	server := &http.Server{
		Handler: s.Handler(), ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the record of decisions: %w", err)
	}
	return nil
}

// Handler answers one request after another: each reads all segments.
func (s *Store) Handler() http.Handler {
	mux, one := http.NewServeMux(), make(chan struct{}, 1)
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, "ask at localhost", http.StatusMisdirectedRequest)
			return
		}
		namespace, name := r.FormValue("namespace"), r.FormValue("name")
		var since time.Time
		if text := r.FormValue("since"); text != "" {
			var err error
			if since, err = time.Parse(time.RFC3339, text); err != nil {
				http.Error(w, "since: "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		select {
		case one <- struct{}{}:
			defer func() { <-one }()
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "somebody else reads the record", http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		err := s.Copy(r.Context(), w, func(o recording.Object) bool {
			return (namespace == "" || o.Namespace == namespace) && (name == "" || o.Name == name)
		}, since)
		if err != nil {
			panic(http.ErrAbortHandler) // who reads it must not take it for whole
		}
	})
	return mux
}

// local reports whether a request names this machine: a page of another name, which was made to lead here, has that in its requests.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

const (
	// timeout bounds an answer as a whole; who asks is one person.
	timeout = 2 * time.Minute
	// mostHeader bounds a header, of a request or of an answer, in bytes.
	mostHeader = 16 << 10
)

// Path is where the record is, with the parameters namespace and name of an object, type, which is FederatedHPA if it is not said, and
// since (RFC 3339).
const Path = "/decisions"

// Secret holds the certificate that is shown by who serves the record, and by who asks for it.
const Secret = "record-certificate"

// Service is whose that certificate is: the name that either verifies, whatever leads there.
const Service = "record"

// contentType is that of a record.
const contentType = "application/octet-stream"

// Serve answers on an address until ctx ends those who can be told by the TLS.
func (s *Store) Serve(ctx context.Context, address string, config *tls.Config) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serving the record of decisions: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, s.Handler())
	server := &http.Server{
		Handler: mux, ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // whoever reaches the address can fail, as often as they like
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(tls.NewListener(listener, config)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the record of decisions: %w", err)
	}
	return nil
}

// Handler answers one request after another: each reads all segments that may hold what it wants. In between it rests for as long as the
// last answer took, so that who asks again and again leaves half of a CPU to who decides.
func (s *Store) Handler() http.Handler {
	one := make(chan struct{}, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		namespace, name := r.FormValue("namespace"), r.FormValue("name")
		if namespace == "" || name == "" {
			http.Error(w, "namespace and name: must be set", http.StatusBadRequest)
			return
		}
		of := r.FormValue("type")
		if of == "" {
			of = v1alpha1.FederatedHPAKind
		}
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
		case <-r.Context().Done():
			return
		}
		began := s.Clock.Now()
		defer func() { time.AfterFunc(s.Clock.Now().Sub(began), func() { <-one }) }()
		_ = http.NewResponseController(w).SetWriteDeadline(began.Add(timeout)) // of a server with a shorter one
		w.Header().Set("Content-Type", contentType)
		wanted := func(o recording.Object) bool { return o.Namespace == namespace && o.Name == name && o.Type() == of }
		err := s.Copy(r.Context(), w, wanted, since)
		if err != nil {
			panic(http.ErrAbortHandler) // who reads it must not take it for whole
		}
	})
}

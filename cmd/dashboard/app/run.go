// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard"
)

const (
	program = "fleetscale-dashboard"
	// mostHeader bounds the header of a request, in bytes: tokens of single sign-on are long.
	mostHeader = 32 << 10
	// lastAnswers bounds how long answers may take once the program is to end. Pages that are open end at once.
	lastAnswers = 10 * time.Second
)

// run serves until ctx ends.
func run(ctx context.Context, o *Options) error {
	log.SetLogger(klog.Background()) // of who reads the certificate; without one it logs a stack, and nothing else
	hub, err := command.HubConfig(o.Kubeconfig, program)
	if err != nil {
		return err
	}
	certificate, err := certs.OfFiles(o.CertFile, o.KeyFile)
	if err != nil {
		return fmt.Errorf("reading --tls-cert-file and --tls-private-key-file: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	page, err := dashboard.NewShared(ctx, hub, o.MostPages)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(o.BindAddress, strconv.Itoa(o.SecurePort)))
	if err != nil {
		return fmt.Errorf("--secure-port: %w", err)
	}
	klog.FromContext(ctx).Info("Serving", "address", listener.Addr().String(), "hub", hub.Host)
	group.Go(func() error { return certificate.Run(ctx) })
	group.Go(func() error { page.Run(); return nil })
	group.Go(func() error { return serve(ctx, listener, certificate, routes(ctx, page)) })
	return group.Wait()
}

// routes are the page, and what a kubelet asks for.
func routes(ctx context.Context, page http.Handler) http.Handler {
	mux := http.NewServeMux()
	fine := func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second)) // the connection may have one of the page
		_, _ = w.Write([]byte("ok"))                                                    // who is gone needs no answer
	}
	mux.HandleFunc("GET /healthz", fine)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "ending", http.StatusServiceUnavailable)
			return
		}
		fine(w, r)
	})
	mux.Handle("/", page)
	return mux
}

// serve answers until ctx ends, and finishes what it has begun to answer.
func serve(ctx context.Context, listener net.Listener, certificate *certs.Certificate, handler http.Handler) error {
	server := &http.Server{ // without a ReadTimeout and a WriteTimeout, which would end streams: the page sets its own
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
		TLSConfig: &tls.Config{GetCertificate: certificate.Get, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // whoever reaches the address can fail, as often as they like
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
		defer cancel()
		ended <- server.Shutdown(last)
	})
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serving: %w", err)
	}
	if err := <-ended; err != nil {
		return server.Close()
	}
	return nil
}

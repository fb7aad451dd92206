// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// Options say of which hub, and where.
type Options struct {
	Hub *rest.Config
	// Namespace is shown where the caller may not list all.
	Namespace string
	// Port is that of 127.0.0.1; 0: one that is free.
	Port int
	// Once is a file that is written instead; empty: a page is served until ctx ends.
	Once string
	// Record is a file with the record of decisions; empty: the hub is asked for it.
	Record string
	Out    io.Writer
}

// Run serves a page, or writes a file.
func Run(ctx context.Context, o Options) error {
	from, err := openArchive(o.Record)
	if err != nil {
		return err
	}
	config := rest.CopyConfig(o.Hub)
	config.Timeout = 0 // of all that is asked, watches included; lists have their own
	config.QPS, config.Burst = 50, 100
	hub, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("preparing to reach the hub: %w", err)
	}
	s := newSeen(o.Hub.Host, time.Now)
	watched, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		(&watcher{hub: hub, namespace: o.Namespace, seen: s}).run(watched)
	}()
	defer func() { stop(); <-ended }()
	if o.Once != "" {
		if err := writeOnce(ctx, s, hub, from, o.Once); err != nil {
			return fmt.Errorf("writing %s: %w", o.Once, err)
		}
		_, err := fmt.Fprintf(o.Out, "wrote %s\n", o.Once)
		return err
	}
	page := &site{seen: s, hub: hub, pasts: from}
	if from == nil {
		page.pasts = newHistories(watched, askingHub(config), ownRoom, noTurns)
	}
	return serve(ctx, &own{token: rand.Text(), site: page}, o)
}

// askingHub asks the hub for records.
func askingHub(config *rest.Config) asking {
	return func(ctx context.Context, of recording.Object, since time.Time) (io.ReadCloser, error) {
		return replaying.FromHub(ctx, config, of, since)
	}
}

// serve answers until ctx ends.
func serve(ctx context.Context, page *own, o Options) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	server := &http.Server{ // without a ReadTimeout, which would end streams
		Handler: page, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	closed := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer closed()
	if _, err := fmt.Fprintf(o.Out, "Open http://%s/%s/\nOnly who knows this address can read the page. Ctrl-C ends it.\n",
		listener.Addr(), page.token); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

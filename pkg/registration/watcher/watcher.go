// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Options say how the hub is asked, and for what.
type Options struct {
	Hub        kubernetes.Interface
	HubDynamic dynamic.Interface
	Sources    []registration.Source
	// Timeout bounds one question whether the hub serves a source's API, Period is the time between two.
	Timeout, Period time.Duration
}

// Watcher keeps the registrations of all sources.
type Watcher struct {
	options Options
	sources []*source // by rank
	queue   workqueue.TypedInterface[registration.Key]
	running sync.WaitGroup
}

// New returns a watcher that knows nothing until it runs.
func New(o Options) *Watcher {
	w := &Watcher{options: o, queue: workqueue.NewTyped[registration.Key]()}
	for rank, s := range o.Sources {
		w.sources = append(w.sources, &source{Source: s, watch: s.Watch(), rank: rank, of: w, credentials: map[string]*credentialWatch{}})
	}
	return w
}

// Run watches until ctx ends, and returns when everything it started has ended.
// It calls changed for each registration that came or changed, and with nil for
// one that is gone; and synced each time that all first registrations of a source
// were handed over. Calls do not overlap.
func (w *Watcher) Run(ctx context.Context, changed func(context.Context, registration.Key, *registration.Registration), synced func()) {
	defer w.running.Wait()
	context.AfterFunc(ctx, w.queue.ShutDown)
	for _, s := range w.sources {
		w.running.Go(func() { s.run(ctx) })
	}
	for {
		k, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		switch s := w.sources[k.Rank]; {
		case !isSign(k):
			changed(ctx, k, s.registration(ctx, k.Object))
		case s.signed(k):
			synced()
		}
		w.queue.Done(k)
	}
}

// Again has a registration handed over once more.
func (w *Watcher) Again(k registration.Key) { w.queue.Add(k) }

// Awaited are the sources whose first registrations were not handed over yet, and why.
func (w *Watcher) Awaited() []string {
	var awaited []string
	for _, s := range w.sources {
		if !s.synced.Load() {
			awaited = append(awaited, s.awaited())
		}
	}
	return awaited
}

// Knows is true while all registrations of a source were handed over: one that was not is gone. So it is while the hub serves
// its objects, and of a source that is not watched, since that has none.
func (w *Watcher) Knows(name string) bool {
	return !slices.ContainsFunc(w.sources, func(s *source) bool { return s.Name() == name && !s.complete() })
}

// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Mirror keeps the objects of one kind of those members and namespaces that
// somebody asks for. All methods may be called from any goroutine.
type Mirror[O runtime.Object, T Object] struct {
	o       Options[O, T]
	pages   chan struct{} // holds a token for each page being read
	running sync.WaitGroup

	// mu guards the rest. It is never held while anything is waited for.
	mu       sync.Mutex
	ctx      context.Context // of Run; nil before
	clusters map[Member]*feeds[O, T]
}

// New returns a mirror that asks nobody until it runs.
func New[O runtime.Object, T Object](o Options[O, T]) *Mirror[O, T] {
	o = o.withDefaults()
	return &Mirror[O, T]{o: o, pages: make(chan struct{}, o.MaxLists), clusters: map[Member]*feeds[O, T]{}}
}

// Run keeps the mirror until ctx ends, and returns nil when everything it
// started has ended. It must be called once.
func (m *Mirror[O, T]) Run(ctx context.Context) error {
	m.begin(ctx)
	ticker := time.NewTicker(min(m.o.KeepFor, m.o.MaxAge) / 10)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			m.sweep(now)
		case <-ctx.Done():
			m.mu.Lock() // who was starting a feed has done so, and no other will
			m.mu.Unlock()
			m.running.Wait()
			return nil
		}
	}
}

// Ask answers for one namespace of a member; the empty one stands for all. It
// waits for the first list of what was not asked for lately, until ctx ends;
// otherwise it answers from memory. What is out of scope is never known, and nobody is asked.
func (m *Mirror[O, T]) Ask(ctx context.Context, member Member, namespace string) Answer[T] {
	if outside := m.Outside(namespace); outside != nil {
		return Answer[T]{Silence: outside}
	}
	f := m.feed(member, namespace)
	f.wait(ctx)
	if f.namespace != namespace && f.refused() { // it is known now: that of the namespace alone may be allowed
		f = m.feed(member, namespace)
		f.wait(ctx)
	}
	return f.answer(namespace, time.Now())
}

// Outside is why no member is asked for objects of the namespace, or, if it is empty, for those of all or of none; nil if they are.
func (m *Mirror[O, T]) Outside(namespace string) *fleet.Silence {
	switch scope := m.o.Scope; {
	case scope.Has(namespace):
		return nil
	case namespace == all:
		return fleet.Silencef(ReasonOutOfScope, "they are not of single namespaces, and %s restricts fleetscale to %s",
			tenancy.NamespacesFlag, scope)
	default:
		return &fleet.Silence{Reason: ReasonOutOfScope, Detail: scope.Outside(namespace)}
	}
}

func (m *Mirror[O, T]) feed(member Member, namespace string) *feed[O, T] {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clusters[member]
	if c == nil {
		c = newFeeds(&m.o, member, m.pages)
		m.clusters[member] = c
	}
	return c.feed(namespace, time.Now(), m.start)
}

func (m *Mirror[O, T]) begin(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ctx = ctx
	for _, c := range m.clusters {
		for _, f := range c.byNamespace {
			m.start(f)
		}
	}
}

func (m *Mirror[O, T]) start(f *feed[O, T]) {
	switch {
	case m.ctx == nil:
		return
	case m.ctx.Err() != nil:
		f.attempt()
		return
	}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(m.ctx)
	m.running.Go(func() { f.run(ctx) })
}

// sweep stops in each cluster what need not be followed.
func (m *Mirror[O, T]) sweep(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for member, c := range m.clusters {
		c.sweep(now, m.start)
		if len(c.byNamespace) == 0 {
			delete(m.clusters, member)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Mirror keeps the objects of one kind of those members and namespaces that
// somebody asks for. All methods may be called from any goroutine.
type Mirror[O runtime.Object, T Object] struct {
	o       Options[O, T]
	pages   chan struct{} // holds a token for each page being read
	running sync.WaitGroup

	// mu guards the rest. It is never held while anything is waited for.
	mu    sync.Mutex
	ctx   context.Context // of Run; nil before
	feeds map[place]*feed[O, T]
}

// place is where objects are. The empty namespace stands for all.
type place struct {
	member    Member
	namespace string
}

// New returns a mirror that asks nobody until it runs.
func New[O runtime.Object, T Object](o Options[O, T]) *Mirror[O, T] {
	o = o.withDefaults()
	return &Mirror[O, T]{o: o, pages: make(chan struct{}, o.MaxLists), feeds: map[place]*feed[O, T]{}}
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
// otherwise it answers from memory.
func (m *Mirror[O, T]) Ask(ctx context.Context, member Member, namespace string) Answer[T] {
	f := m.feed(place{member, namespace})
	select {
	case <-f.tried:
	case <-ctx.Done():
	}
	return f.answer(time.Now())
}

func (m *Mirror[O, T]) feed(p place) *feed[O, T] {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.feeds[p]
	if f == nil {
		f = m.add(p)
	}
	f.asked = time.Now()
	return f
}

func (m *Mirror[O, T]) add(p place) *feed[O, T] {
	f := newFeed(&m.o, p, m.pages, m.turns(p.member))
	m.feeds[p] = f
	m.start(f)
	return f
}

// pagesEach bounds the pages that are read from one member at one time, so that
// a slow one does not take the places of all others.
const pagesEach = 2

func (m *Mirror[O, T]) turns(member Member) chan struct{} {
	for p, f := range m.feeds {
		if p.member == member {
			return f.turns
		}
	}
	return make(chan struct{}, pagesEach)
}

func (m *Mirror[O, T]) begin(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ctx = ctx
	for _, f := range m.feeds {
		m.start(f)
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

// sweep ends the feeds that nobody asked for, and begins those anew whose objects
// are too old.
func (m *Mirror[O, T]) sweep(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, f := range m.feeds {
		switch {
		case now.Sub(f.asked) >= m.o.KeepFor:
			f.stop()
			delete(m.feeds, p)
		case f.expired(now):
			f.stop()
			m.add(p).asked = f.asked
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"maps"
	"slices"
	"time"
)

// touch notes that k was asked for, and returns where the answers of those asked
// are kept, in their order. A question new to us is put to the members at once;
// one that only some need is put to those only.
func (s *Store) touch(k key, asked []*scraper) (h *hotKey, targets []*target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	targets = s.ensure(k, asked)
	if h = s.hot[k]; h != nil {
		h.asked = time.Now()
		s.shares.Use(k)
		return h, targets
	}
	for _, former := range s.shares.Put(k.namespace, k, 1) {
		s.drop(former)
	}
	h = &hotKey{asked: time.Now(), warm: make(chan struct{})}
	s.hot[k] = h
	all := targets
	if k.selector == "" { // the next client may want other clusters
		all = s.ensure(k, s.all())
	}
	s.running.Go(func() {
		for _, t := range all {
			<-t.first // comes within the member's deadline, or after a list that it waits for
		}
		close(h.warm)
	})
	return h, targets
}

func (s *Store) ensure(k key, asked []*scraper) []*target {
	targets := make([]*target, 0, len(asked))
	for _, sc := range asked {
		targets = append(targets, sc.ensure(k))
	}
	return targets
}

func (s *Store) all() []*scraper { return slices.Collect(maps.Values(s.scrapers)) }

func (s *Store) dropIdle(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, h := range s.hot {
		if now.Sub(h.asked) > s.o.IdleAfter {
			s.drop(k)
		}
	}
}

func (s *Store) drop(k key) {
	delete(s.hot, k)
	s.shares.Remove(k)
	for _, sc := range s.scrapers {
		sc.drop(k)
	}
}

// followMembers starts a scraper for each member that joined, ends those of
// members that left, and has a member asked as soon as it is ready again.
func (s *Store) followMembers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	present := map[string]bool{}
	for _, m := range s.o.Members() {
		name := m.Name()
		present[name] = true
		sc := s.scrapers[name]
		if sc == nil || sc.source != m {
			sc = s.join(m)
		}
		ready := m.Silence() == nil
		if ready && !sc.ready {
			sc.wakeUp()
		}
		sc.ready = ready
	}
	for name, sc := range s.scrapers {
		if !present[name] {
			s.leave(name, sc)
		}
	}
}

// join starts asking a member, first of all for what is hot.
func (s *Store) join(m Source) *scraper {
	if former := s.scrapers[m.Name()]; former != nil {
		s.leave(m.Name(), former)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	sc := &scraper{
		source: m, period: s.o.Period, timeout: s.o.Timeout, metrics: s.o.Metrics,
		ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), failed: make(chan struct{}, 1), running: &s.running,
		memory: s.o.Memory, scope: s.o.Scope, lists: s.lists,
		targets: map[key]*target{}, labelling: map[string]labelling{}, beat: newBeat(s.o.Period),
	}
	for k := range s.hot {
		if k.selector == "" {
			sc.ensure(k)
		}
	}
	s.scrapers[m.Name()] = sc
	s.running.Go(sc.run)
	s.running.Go(sc.retry)
	return sc
}

func (s *Store) leave(name string, sc *scraper) {
	sc.leave()
	delete(s.scrapers, name)
	s.o.Metrics.forget(name)
}

// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"slices"
	"time"
)

// ensure returns the target of k, asking for it at once where there is none yet.
func (s *scraper) ensure(k key) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.targets[k]
	if t == nil {
		t = newTarget(k)
		s.targets[k] = t
		s.fresh = append(s.fresh, t)
		if t.isNamespace() {
			s.together.came()
		}
		s.startAsking()
	}
	return t
}

// startAsking is called with the lock held.
func (s *scraper) startAsking() {
	if len(s.fresh) > 0 && s.asking < asksAtOnce {
		s.asking++
		s.running.Go(s.askFresh)
	}
}

// askFresh asks for targets that are new to us: for one, and if the member is not down for all that came meanwhile. Once
// enough of them came, it asks for a list of all pods, which answers those that come until the next round.
func (s *scraper) askFresh() {
	for {
		targets := s.takeFresh()
		if len(targets) == 0 {
			return
		}
		if targets = s.fileLatest(targets); len(targets) == 0 {
			continue
		}
		pilot, others := targets[0], targets[1:]
		if a, _ := s.ask(pilot, false); isDown(a.err) {
			targets = append(targets, s.freshNow()...)
			s.failAll(targets[1:], a)
		} else {
			s.askOthers(pilot, others)
		}
		if slices.ContainsFunc(targets, (*target).unanswered) {
			signal(s.failed)
		}
	}
}

// takeFresh returns what nobody has asked for yet; without any the asker is done.
func (s *scraper) takeFresh() []*target {
	s.mu.Lock()
	defer s.mu.Unlock()
	targets := s.askable()
	if len(targets) == 0 {
		s.asking--
	}
	return targets
}

// freshNow is takeFresh for an asker that continues whatever it returns.
func (s *scraper) freshNow() []*target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.askable()
}

// askable takes from the fresh what does not wait for a list. It is called with the lock held.
func (s *scraper) askable() (targets []*target) {
	if s.listing {
		s.fresh, targets = namespacesApart(s.fresh)
		return targets
	}
	targets, s.fresh = s.fresh, nil
	return targets
}

// fileLatest answers what it can from the list of all pods that is kept, and returns the others.
func (s *scraper) fileLatest(targets []*target) (others []*target) {
	namespaces, others := namespacesApart(targets)
	for _, t := range namespaces {
		if a, known := s.latest.of(t.key.namespace, time.Now(), s.period); known {
			s.file(t, a)
		} else {
			others = append(others, t)
		}
	}
	return others
}

// askOthers asks for what is new to us beside the pilot, and where it is worth it for a list of all, even if no namespace is among them.
func (s *scraper) askOthers(pilot *target, others []*target) {
	namespaces, others := namespacesApart(s.fileLatest(others)) // a list may have come meanwhile
	s.askEach(others, false)
	switch list, wait := s.considerList(pilot, namespaces); {
	case wait:
	case list && s.list(namespaces):
	default:
		s.askEach(namespaces, false)
	}
}

// considerList decides whether to ask for a list of all. While another asks for that the namespaces wait for it.
func (s *scraper) considerList(pilot *target, namespaces []*target) (list, wait bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listing {
		s.fresh = append(s.fresh, namespaces...)
		return false, true
	}
	asked := len(namespaces)
	if pilot.isNamespace() {
		asked++
	}
	s.together.asked(asked)
	s.listing = s.scope.Everywhere() && s.together.worthwhile(0, 0)
	return s.listing, false
}

// list asks for a list of all. False: it answers none of the namespaces.
func (s *scraper) list(namespaces []*target) bool {
	_, answered := s.askTogether(namespaces, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing = false
	s.startAsking()
	return answered
}

// ownParts frees the list of which targets have parts, once it is not kept for those to come.
func (s *scraper) ownParts(targets []*target) {
	if s.latest.isKept(time.Now(), s.period, s.memory) {
		return
	}
	for _, t := range targets {
		t.own()
	}
}

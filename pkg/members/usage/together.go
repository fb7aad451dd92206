// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"sync"
	"time"
)

// Where many namespaces are hot, one list of all pods takes the place of a list
// of each, so that the requests to a member do not grow with the autoscalers.
// That brings pods that nobody asked for; it is done as long as those cost less
// than the requests that are saved.
const (
	// fewNamespaces, beside the pilot's, are always asked for one by one.
	fewNamespaces = 8
	// podsPerRequest is how many pods more in a list cost a member, and us, about as much as one request more.
	podsPerRequest = 50
	// mostDoublings bound how long a list of all is not retried when it fails time after time: 256 rounds, which are an hour.
	mostDoublings = 8
	// listsAtOnce are the lists of all pods that are asked of all members at one time. After a start all would be, and where this machine is
	// what limits them none would come within its deadline. Where members are what limits them waiting gains nothing: so a list waits for
	// 1/patience of a period at most.
	listsAtOnce, patience = 32, 4
)

// together decides whether to ask for all namespaces at once. It is told what came of it.
type together struct {
	mu sync.Mutex
	// all is how many pods a list of all had last; 0 before it is known. It wears
	// off, so that what once was dear is retried.
	all int
	// coming is true if a namespace came that was new to us since the last round.
	coming bool
	// news is how many of these were asked for since the last round, or list of all. As many more may come before the next.
	news int
	// failures are how many lists of all did not come, one after the other; it is not tried before wait rounds more.
	failures, wait int
}

// worthwhile is for namespaces that had so many pods last.
func (t *together) worthwhile(namespaces, pods int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespaces += t.news
	return t.wait == 0 && namespaces > fewNamespaces && t.all-pods <= namespaces*podsPerRequest
}

// came is for a namespace that is new to us.
func (t *together) came() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coming = true
}

// asked is for so many that came, which no list answered.
func (t *together) asked(namespaces int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.news += namespaces
}

// moreToCome is true if some came since the last round.
func (t *together) moreToCome() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.coming
}

// nextRound is for when all has been asked for.
func (t *together) nextRound() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coming, t.news, t.wait = false, 0, max(0, t.wait-1)
	t.all -= t.all / 256 // half in 45 minutes at a period of 15 s
}

func (t *together) listed(all int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all, t.news, t.failures, t.wait = all, 0, 0, 0
}

// failed is for a list of all that did not come: one that may not be had, or was too long for the deadline, perhaps this once.
func (t *together) failed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait = 1 + 1<<t.failures
	t.failures = min(t.failures+1, mostDoublings)
}

// awaitTurn returns what ends the turn.
func (s *scraper) awaitTurn() (end func()) {
	timer := time.NewTimer(s.period / patience)
	defer timer.Stop()
	select {
	case s.lists <- struct{}{}:
		return func() { <-s.lists }
	case <-timer.C:
	case <-s.ctx.Done():
	}
	return func() {}
}

// askTogether asks once for all the namespaces, whose targets these are. False: it was no answer, and nothing was filed.
func (s *scraper) askTogether(namespaces []*target, onBeat bool) (comparison, bool) {
	defer s.awaitTurn()() // the member's deadline begins when it is asked
	a := attempt{sent: time.Now(), onBeat: onBeat}
	a.batch, a.err = s.fetch(key{resource: podsResource})
	a.received = time.Now()
	if a.err != nil { // also for one that says it has no such list: it may have that of a namespace
		s.together.failed()
		return comparison{}, false
	}
	kept := s.together.moreToCome() && s.latest.keep(a, s.memory)
	if !kept {
		s.latest.forget(s.memory)
	}
	var all comparison
	for _, t := range namespaces {
		part := a.inNamespace(t.key.namespace)
		if !kept {
			part.batch = part.batch.own()
		}
		all = all.with(s.file(t, part))
	}
	s.together.listed(a.batch.Len())
	return all, true
}

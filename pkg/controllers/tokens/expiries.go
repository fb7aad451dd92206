// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"sync"
	"time"
)

// expiries are when the tokens of registrations expire, by cluster. All methods may be called from any goroutine.
type expiries struct {
	mu     sync.Mutex
	passed bool
	of     map[string]map[credential]time.Time
}

func (e *expiries) set(cluster string, c credential, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil {
		e.of = map[string]map[credential]time.Time{}
	}
	if e.of[cluster] == nil {
		e.of[cluster] = map[credential]time.Time{}
	}
	e.of[cluster][c] = at
}

func (e *expiries) unset(cluster string, c credential) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.of[cluster], c)
}

func (e *expiries) forget(cluster string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.of, cluster)
}

func (e *expiries) pass() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.passed = true
}

// Expiries returns when the first token of each registration expires, by the name of its cluster, without those of which none does;
// false: not all registrations have been seen yet.
func (r *Renewer) Expiries() (map[string]time.Time, bool) {
	e := &r.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	first := make(map[string]time.Time, len(e.of))
	for cluster, tokens := range e.of {
		for _, at := range tokens {
			if before, known := first[cluster]; !at.IsZero() && (!known || at.Before(before)) {
				first[cluster] = at
			}
		}
	}
	return first, e.passed
}

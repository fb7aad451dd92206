// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/members/memory"
)

// latest is a member's last list of all its pods. It is kept while namespaces come that are new to us, for those still to come:
// after a start that is all of them, and a request for each to each member is what would take longest.
type latest struct {
	mu    sync.Mutex
	list  attempt // without a batch there is none
	bytes int64
	gone  bool // nobody will come any more
}

var _ memory.Held = (*latest)(nil)

// Bytes implements memory.Held. What targets have of the list is counted for them once more.
func (l *latest) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// Forget implements memory.Held. What targets have of the list is their own from the next round on.
func (l *latest) Forget() { l.set(attempt{}) }

func (l *latest) set(list attempt) {
	bytes := list.batch.bytes()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.gone {
		l.list, l.bytes = list, bytes
	}
}

// leave is for a member that left.
func (l *latest) leave(m *memory.Memory) {
	l.mu.Lock()
	l.list, l.bytes, l.gone = attempt{}, 0, true
	l.mu.Unlock()
	m.SpareChanged(l)
}

// keep returns false if there is no room for the list, or nothing in it.
func (l *latest) keep(list attempt, m *memory.Memory) bool {
	l.set(list)
	m.SpareChanged(l)
	return l.Bytes() > 0
}

func (l *latest) forget(m *memory.Memory) { l.keep(attempt{}, m) }

// of is what the list has of a namespace, if one is kept that is no older than that.
func (l *latest) of(namespace string, now time.Time, maxAge time.Duration) (attempt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list.batch == nil || now.Sub(l.list.sent) > maxAge {
		return attempt{}, false
	}
	return l.list.inNamespace(namespace), true
}

// isKept forgets a list that is older than that.
func (l *latest) isKept(now time.Time, maxAge time.Duration, m *memory.Memory) bool {
	l.mu.Lock()
	kept, sent := l.list.batch != nil, l.list.sent
	l.mu.Unlock()
	if kept && now.Sub(sent) > maxAge {
		l.forget(m)
		return false
	}
	return kept
}

// inNamespace is what a list of all tells of one namespace.
func (a attempt) inNamespace(name string) attempt {
	a.batch = a.batch.inNamespace(name)
	return a
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/sim"
)

// reconciles are the moments at which the controller of an API server began to decide for each workload: at which it read its
// scale, which either controller does once for a decision.
type reconciles struct {
	mu      sync.Mutex
	last    map[workload]time.Time
	between measure.Samples // seconds between two of the same workload, since the last drain
	seen    map[workload]int
}

type workload struct{ namespace, name string }

func watchReconciles(m *sim.Member) *reconciles {
	l := &reconciles{}
	l.drain()
	m.OnRequest(l.note)
	return l
}

func (l *reconciles) note(s sim.Seen) {
	if s.Verb != "get" || s.Subresource != "scale" {
		return
	}
	key := workload{s.Namespace, s.Name}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, again := l.last[key]; again {
		l.between = append(l.between, s.At.Sub(before).Seconds())
	}
	l.last[key] = s.At
	l.seen[key]++
}

// workloads returns how many were reconciled since the last drain.
func (l *reconciles) workloads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seen)
}

// drain forgets all.
func (l *reconciles) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.between, l.seen, l.last = nil, map[workload]int{}, map[workload]time.Time{}
}

// noted returns what was noted since the last drain or keep.
func (l *reconciles) noted() (between measure.Samples, workloads int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.between), len(l.seen)
}

// keep forgets what was noted, but not when each workload was reconciled last.
func (l *reconciles) keep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.between, l.seen = nil, map[workload]int{}
}

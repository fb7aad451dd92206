// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"sync"
	"time"
)

// Seen are the views as who follows them has read them. The zero value has none. All methods may be called from any goroutine.
type Seen struct {
	mu    sync.Mutex
	views map[string]View
	// renewal is how the last one is written, and renewed when it was first read: the clock of who wrote it does not matter. Empty:
	// who writes does not renew, as controller-managers before renewals, and nothing is known of whether it works.
	renewal string
	renewed time.Time
}

// Of returns what was published of a cluster; stale: nobody has renewed that lately, so that no controller-manager is at work, or none that
// reaches the hub.
func (s *Seen) Of(cluster string, now time.Time) (v View, stale, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, known = s.views[cluster]
	return v, known && s.renewal != "" && now.Sub(s.renewed) > staleAfter, known
}

// read files what is stored.
func (s *Seen) read(data map[string]string, now time.Time) {
	views, renewal := Decode(data), data[renewedKey]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renewed.IsZero() || renewal != s.renewal {
		s.renewal, s.renewed = renewal, now
	}
	s.views = views
}

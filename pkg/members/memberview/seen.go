// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"net/netip"
	"strings"
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
	records []string
}

// Of returns what was published of a cluster; stale: nobody has renewed that lately, so that no controller-manager is at work, or none that
// reaches the hub.
func (s *Seen) Of(cluster string, now time.Time) (v View, stale, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, known = s.views[cluster]
	return v, known && s.stale(now), known
}

func (s *Seen) stale(now time.Time) bool { return s.renewal != "" && now.Sub(s.renewed) > staleAfter }

// Records returns where the controller-managers serve the record of decisions, ADDRESS:PORT, each its own part; none: no leader that is at
// work tells of any.
func (s *Seen) Records(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale(now) {
		return nil
	}
	return s.records
}

// mostRecords is how many parts a record has at most.
const mostRecords = 64

// addresses are those of a list; none unless all are.
func addresses(list string) []string {
	all := strings.Split(list, ",")
	if len(all) > mostRecords {
		return nil
	}
	for _, address := range all {
		if _, err := netip.ParseAddrPort(address); err != nil {
			return nil
		}
	}
	return all
}

// read files what is stored.
func (s *Seen) read(data map[string]string, now time.Time) {
	views, renewal, records := Decode(data), data[renewedKey], addresses(data[recordKey])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renewed.IsZero() || renewal != s.renewal {
		s.renewal, s.renewed = renewal, now
	}
	s.views, s.records = views, records
}

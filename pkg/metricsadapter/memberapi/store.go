// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

const (
	// mostChanges are those that watches may be behind.
	mostChanges = 4096
	// mostStreams bounds the watches at one time.
	mostStreams = 1000
	// fresh is how old what is listed may be.
	fresh = 500 * time.Millisecond
	// period is the interval at which what is known is compared with before, if nobody says that it has changed.
	period = 5 * time.Second
	// rest is the least time between two changes that watches see apart.
	rest = 100 * time.Millisecond
)

// Options of a Store.
type Options struct {
	// Fleet returns what is known of each registered cluster. It must not block.
	Fleet func() []Known
}

// Store has the present Members and their last changes. All methods may be called from any goroutine.
type Store struct {
	fleet  func() []Known
	stale  chan struct{} // something may have changed
	ended  chan struct{} // Run has returned
	places chan struct{} // holds a token for each watch

	refreshing sync.Mutex // held while what is known is gathered, and so in the order of time

	mu        sync.Mutex
	refreshed time.Time
	members   []*v1alpha1.Member // by name
	history   *history
	news      chan struct{} // closed at the next change
}

// New returns a store that knows no member until it is asked, or runs.
func New(o Options) *Store {
	return &Store{
		fleet: o.Fleet, stale: make(chan struct{}, 1), ended: make(chan struct{}), places: make(chan struct{}, mostStreams),
		history: newHistory(time.Now(), mostChanges), news: make(chan struct{}),
	}
}

// Run has watches told of changes until ctx ends, and then ends them. It must be called once.
func (s *Store) Run(ctx context.Context) {
	defer close(s.ended)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		s.refresh(0)
		select {
		case <-ctx.Done():
			return
		case <-s.stale:
		case <-ticker.C:
		}
		pause.Reset(rest)
	}
}

// Changed says that the fleet may be another one. It never blocks.
func (s *Store) Changed() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}

// refresh files what is known now, unless that was done so lately.
func (s *Store) refresh(lately time.Duration) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	s.mu.Lock()
	recent := lately > 0 && time.Since(s.refreshed) < lately
	s.mu.Unlock()
	if recent {
		return
	}
	now := time.Now()
	known := s.fleet()
	members := make([]*v1alpha1.Member, 0, len(known))
	for _, k := range known {
		members = append(members, memberOf(k))
	}
	slices.SortFunc(members, byName)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file(members)
	s.refreshed = now
}

func byName(a, b *v1alpha1.Member) int { return strings.Compare(a.Name, b.Name) }

// file notes what has changed. Both lists are in order.
func (s *Store) file(members []*v1alpha1.Member) {
	version := s.history.last
	before := s.members
	for _, m := range members {
		for len(before) > 0 && before[0].Name < m.Name {
			s.gone(before[0])
			before = before[1:]
		}
		if len(before) == 0 || before[0].Name != m.Name {
			s.history.add(change{watch.Added, m, nil})
			continue
		}
		was := before[0]
		before = before[1:]
		switch {
		case was.UID != m.UID: // another registration
			s.gone(was)
			s.history.add(change{watch.Added, m, nil})
		case !reflect.DeepEqual(lasting(was), lasting(m)):
			s.history.add(change{watch.Modified, m, was})
		default:
			m.ResourceVersion = was.ResourceVersion
		}
	}
	for _, m := range before {
		s.gone(m)
	}
	s.members = members
	if s.history.last != version {
		close(s.news)
		s.news = make(chan struct{})
	}
}

func (s *Store) gone(m *v1alpha1.Member) {
	last := *m
	s.history.add(change{watch.Deleted, &last, m})
}

// present returns the members, which are shared, and their version.
func (s *Store) present() ([]*v1alpha1.Member, uint64) {
	s.refresh(fresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members, s.history.last
}

// check is nil for a resource version of this replica, and for none.
func (s *Store) check(version uint64) error {
	if version == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.check(version)
}

// next returns the change after a version and, where there is none yet, what is closed when there is one; false: that change is no
// longer held.
func (s *Store) next(version uint64) (c change, news <-chan struct{}, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.history.holds(version):
		return change{}, nil, false
	case version == s.history.last:
		return change{}, s.news, true
	}
	return s.history.at(version + 1), nil, true
}

// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/member"
)

const (
	// supportHolds is for how long what a cluster can do is not asked again, and half as much more at most.
	supportHolds = 100 * time.Second
	// supportTimeout bounds the questions to a cluster together.
	supportTimeout = 10 * time.Second
	// supportForgotten is for how long it is remembered of a cluster for which nobody asks.
	supportForgotten = 10 * time.Minute
)

// supports are what clusters can do, of those for which somebody asks.
type supports struct {
	mu    sync.Mutex
	known map[*member.Member]*support
	swept time.Time
}

// of returns what is known of a cluster.
func (s *supports) of(m *member.Member, now time.Time) *support {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.swept) > supportForgotten {
		maps.DeleteFunc(s.known, func(_ *member.Member, one *support) bool { return now.Sub(one.asked) > supportForgotten })
		s.swept = now
	}
	one := s.known[m]
	if one == nil {
		one = &support{turn: make(chan struct{}, 1)}
		s.known[m] = one
	}
	one.asked = now
	return one
}

// support is what is known of one cluster.
type support struct {
	asked time.Time     // supports.mu guards it
	turn  chan struct{} // holds a token while the cluster is asked

	// mu guards the rest. It is never held while anything is waited for.
	mu    sync.Mutex
	last  Support
	until time.Time // when the cluster is asked again
}

// ask answers from memory. One at a time finds it out when that is too old; who asks for what was never found out waits for
// it, until ctx ends.
func (s *support) ask(ctx context.Context, find func(context.Context) (Support, error)) Support {
	last, holds, known := s.get()
	switch {
	case holds:
		return last
	case known && !s.try():
		return last
	case !known && !s.wait(ctx):
		return last.unless(ctx.Err())
	}
	defer func() { <-s.turn }()
	if last, holds, _ = s.get(); holds {
		return last
	}
	asking, cancel := context.WithTimeout(ctx, supportTimeout)
	defer cancel()
	found, err := find(asking)
	if err != nil && ctx.Err() != nil { // the caller does not wait, which says nothing of the cluster
		return last.unless(err)
	}
	return s.put(found, err)
}

// try returns false if somebody else asks the cluster just now.
func (s *support) try() bool {
	select {
	case s.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *support) wait(ctx context.Context) bool {
	select {
	case s.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// get returns what was found out last, whether it holds, and whether there is any.
func (s *support) get() (last Support, holds, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, time.Now().Before(s.until), !s.until.IsZero()
}

// put keeps what was found out last while the cluster is silent.
func (s *support) put(found Support, err error) Support {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		found = s.last.unless(err)
	}
	s.last, s.until = found, time.Now().Add(supportHolds+rand.N(supportHolds/2))
	return s.last
}

// unless is what was found out last, if it cannot be now because of an error.
func (s Support) unless(err error) Support {
	s.Silence = fleet.Unanswered(err)
	return s
}

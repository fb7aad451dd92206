// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/members/member"
)

const (
	// sizingHolds is for how long what a cluster can do is not asked again, and half as much more at most.
	sizingHolds = 100 * time.Second
	// sizingTimeout bounds the questions to a cluster together.
	sizingTimeout = 10 * time.Second
	// sizingForgotten is for how long it is remembered of a cluster for which nobody asks.
	sizingForgotten = 10 * time.Minute
)

// sizings are what clusters can do, of those for which somebody asks.
type sizings struct {
	mu    sync.Mutex
	known map[*member.Member]*sizing
	swept time.Time
}

// of returns what is known of a cluster.
func (s *sizings) of(m *member.Member, now time.Time) *sizing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.swept) > sizingForgotten {
		maps.DeleteFunc(s.known, func(_ *member.Member, one *sizing) bool { return now.Sub(one.asked) > sizingForgotten })
		s.swept = now
	}
	one := s.known[m]
	if one == nil {
		one = &sizing{turn: make(chan struct{}, 1)}
		s.known[m] = one
	}
	one.asked = now
	return one
}

// sizing is what is known of one cluster.
type sizing struct {
	asked time.Time     // sizings.mu guards it
	turn  chan struct{} // holds a token while the cluster is asked

	// mu guards the rest. It is never held while anything is waited for.
	mu    sync.Mutex
	last  Sizing
	until time.Time // when the cluster is asked again
}

// ask answers from memory. One at a time finds it out when that is too old; who asks for what was never found out waits for
// it, until ctx ends.
func (s *sizing) ask(ctx context.Context, find func(context.Context) (Sizing, error)) Sizing {
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
	asking, cancel := context.WithTimeout(ctx, sizingTimeout)
	defer cancel()
	found, err := find(asking)
	if err != nil && ctx.Err() != nil { // the caller does not wait, which says nothing of the cluster
		return last.unless(err)
	}
	return s.put(found, err)
}

// try returns false if somebody else asks the cluster just now.
func (s *sizing) try() bool {
	select {
	case s.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *sizing) wait(ctx context.Context) bool {
	select {
	case s.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// get returns what was found out last, whether it holds, and whether there is any.
func (s *sizing) get() (last Sizing, holds, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, time.Now().Before(s.until), !s.until.IsZero()
}

// put keeps what was found out last while the cluster is silent.
func (s *sizing) put(found Sizing, err error) Sizing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		found = s.last.unless(err)
	}
	s.last, s.until = found, time.Now().Add(sizingHolds+rand.N(sizingHolds/2))
	return s.last
}

// unless is what was found out last, if it cannot be now because of an error.
func (s Sizing) unless(err error) Sizing {
	s.Silence = silenceOf(err)
	return s
}

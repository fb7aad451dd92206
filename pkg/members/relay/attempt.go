// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// An attempt at something is made once for all who wait for it. Its outcome
// does not change, and may be read once done is closed.
type attempt[V any] struct {
	sent  time.Time
	over  time.Time // when it ended
	done  chan struct{}
	value V
	err   error
}

func newAttempt[V any]() *attempt[V] {
	return &attempt[V]{sent: time.Now(), done: make(chan struct{})}
}

// failed is an attempt that needed none.
func failed[V any](err error) *attempt[V] {
	a := newAttempt[V]()
	var none V
	a.end(none, err)
	return a
}

func (a *attempt[V]) end(value V, err error) {
	a.value, a.err, a.over = value, err, time.Now()
	close(a.done)
}

func (a *attempt[V]) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// keepTooLarge is for how long an answer that was too large is not asked for again: it took much to find that out, and takes a
// person to change. It is less than the 15 s in which autoscalers ask again.
const keepTooLarge = 10 * time.Second

// fresh is true for keepFor: of an answer from when it was asked for, since it
// is no younger; of a failure from when it was known, else one that took its
// whole deadline would spare nobody the next. What was never asked serves nobody.
func (a *attempt[V]) fresh(keepFor time.Duration) bool {
	if ratelimit.Throttled(a.err) {
		return false
	}
	if silence, _ := fleet.Classify(a.err); silence != nil && silence.Reason == fleet.ReasonTooLarge {
		keepFor = max(keepFor, keepTooLarge)
	}
	since := a.sent
	if a.err != nil {
		since = a.over
	}
	return time.Since(since) < keepFor
}

func (a *attempt[V]) wait(ctx context.Context) (V, error) {
	if a.ended() {
		return a.value, a.err
	}
	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"time"
)

// An attempt at something is made once for all who wait for it. Its outcome
// does not change, and may be read once done is closed.
type attempt[V any] struct {
	sent  time.Time
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
	a.value, a.err = value, err
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

// fresh is true for keepFor from when it was asked.
func (a *attempt[V]) fresh(keepFor time.Duration) bool {
	return time.Since(a.sent) < keepFor
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

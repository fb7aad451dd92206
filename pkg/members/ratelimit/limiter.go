// SPDX-License-Identifier: Apache-2.0

package ratelimit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Limiter bounds the requests to one member. Each class has its share; within a class the
// namespaces take turns, so that who asks much waits for itself.
type Limiter struct {
	// Part is how much of the rate, above 0 and up to 1, this process may use: others use the rest. It may change, and must not block; nil:
	// all. The burst is of each process.
	Part func() float64

	qps      float64
	patience time.Duration // how long a request waits at most

	mu     sync.Mutex
	tokens tokens
	queues [classes]queue
	first  Class // that is served first
	ticks  bool  // a tick is to come
}

// New returns a limiter that has requests wait for half of their deadline at most: the rest is for the answer.
func New(qps float32, burst int, timeout time.Duration) *Limiter {
	return &Limiter{qps: float64(qps), patience: timeout / 2, tokens: newTokens(burst, time.Now())}
}

// rate is in requests a second.
func (l *Limiter) rate() float64 {
	if l.Part == nil {
		return l.qps
	}
	return l.qps * l.Part()
}

// most is how many requests of one namespace wait: who could not be served in time is told at once.
func (l *Limiter) most() int { return 1 + int(l.rate()*l.patience.Seconds()) }

// pace is the time between two requests.
func (l *Limiter) pace() time.Duration {
	return max(time.Millisecond, time.Duration(float64(time.Second)/l.rate()))
}

// ErrThrottled is why a request was not sent: see [Throttled].
var ErrThrottled error = fleet.Silencef(fleet.ReasonRateLimited,
	"our own limit of requests to this cluster (--member-qps, --member-burst) is reached")

// Throttled is true for the error of a request that was not sent, because of our own limit of
// requests. It says nothing of the member.
func Throttled(err error) bool { return errors.Is(err, ErrThrottled) }

// Admit returns nil when the request may be sent.
func (l *Limiter) Admit(ctx context.Context, of Class, namespace string) error {
	w, err := l.enter(of, namespace)
	if w == nil {
		return err
	}
	timer := time.NewTimer(l.patience)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = ErrThrottled
	}
	if !l.leave(w) {
		return nil // it was admitted at the same moment
	}
	return err
}

// enter returns the place of a request that has to wait.
func (l *Limiter) enter(of Class, namespace string) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve(time.Now())
	q := &l.queues[of]
	switch {
	case len(q.turns) == 0 && l.tokens.take(of):
		return nil, nil
	case len(q.waiting[namespace]) >= l.most():
		return nil, ErrThrottled
	}
	w := &waiter{of: of, namespace: namespace, admitted: make(chan struct{})}
	q.push(w)
	l.tickSoon()
	return w, nil
}

// leave is false for a request that was admitted.
func (l *Limiter) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues[w.of].remove(w)
}

// serve admits those who wait, as far as there are tokens: the classes in turn.
func (l *Limiter) serve(now time.Time) {
	l.tokens.fill(now, l.rate())
	for denied := 0; denied < classes; {
		q := &l.queues[l.first]
		if len(q.turns) > 0 && l.tokens.take(l.first) {
			close(q.pop().admitted)
			denied = 0
		} else {
			denied++
		}
		l.first = (l.first + 1) % classes
	}
}

// tickSoon serves those who wait when there may be another token.
func (l *Limiter) tickSoon() {
	if l.ticks {
		return
	}
	l.ticks = true
	time.AfterFunc(l.pace(), l.tick)
}

func (l *Limiter) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ticks = false
	l.serve(time.Now())
	for _, q := range l.queues {
		if len(q.turns) > 0 {
			l.tickSoon()
		}
	}
}

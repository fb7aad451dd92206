// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// A board has a line to each member for one API.
type board[T any] struct {
	o        Options
	api      *api[T]
	onChange func() // of the catalogue
	wake     chan struct{}
	stale    atomic.Bool // the catalogue

	mu      sync.Mutex
	lines   map[string]*line[T]
	union   []provider.CustomMetricInfo
	running sync.WaitGroup
}

func newBoard[T any](o Options, a *api[T], onChange func()) *board[T] {
	return &board[T]{o: o, api: a, onChange: onChange, wake: make(chan struct{}, 1), lines: map[string]*line[T]{}}
}

func (b *board[T]) run(ctx context.Context) {
	ticker := time.NewTicker(b.o.KeepFor)
	defer ticker.Stop()
	for {
		b.followMembers(ctx)
		b.gather()
		select {
		case <-ctx.Done():
			b.leaveAll()
			b.running.Wait()
			return
		case <-b.wake:
		case <-ticker.C:
			b.forgetOld(time.Now())
		}
	}
}

func (b *board[T]) wakeUp() { signal(b.wake) }

// followMembers opens a line to each member that joined, ends those to members
// that left, and wakes the discovery of a member as soon as it is ready again.
func (b *board[T]) followMembers(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	present := map[string]bool{}
	for _, m := range b.o.Members() {
		present[m.Name()] = true
		l := b.lines[m.Name()]
		if l == nil || l.source != m {
			l = b.join(ctx, m)
		}
		l.noteReady()
	}
	for name := range b.lines {
		if !present[name] {
			b.leave(name)
		}
	}
}

func (b *board[T]) join(ctx context.Context, m Source) *line[T] {
	b.leave(m.Name())
	l := newLine(ctx, b, m)
	b.lines[m.Name()] = l
	b.running.Go(l.discoverAlways)
	return l
}

func (b *board[T]) leave(name string) {
	if l := b.lines[name]; l != nil {
		l.end()
		delete(b.lines, name)
		b.stale.Store(true)
	}
}

func (b *board[T]) leaveAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.lines {
		b.leave(name)
	}
}

func (b *board[T]) forgetOld(now time.Time) {
	for _, l := range b.asked(everyone) {
		l.forgetOld(now)
	}
}

func everyone(string) bool { return true }

func (b *board[T]) asked(clusters func(string) bool) []*line[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := make([]*line[T], 0, len(b.lines))
	for name, l := range b.lines {
		if clusters(name) {
			asked = append(asked, l)
		}
	}
	return asked
}

// grace lets members' deadlines end before ours, so that their silence has its true reason.
const grace = time.Second

func (b *board[T]) ask(ctx context.Context, k key, clusters func(string) bool) Result[T] {
	ctx, cancel := context.WithTimeout(ctx, b.o.Timeout+grace)
	defer cancel()
	asked := b.asked(clusters)
	attempts := make([]*attempt[[]T], len(asked))
	for i, l := range asked {
		attempts[i] = l.put(k)
	}
	result := Result[T]{Answer: fleet.NewAnswer[[]T](len(asked)), Since: map[string]time.Time{}, Before: map[string]merge.Seen{}}
	for i, l := range asked {
		values, err := attempts[i].wait(ctx)
		name := l.source.Name()
		result.Throttled = result.Throttled || ratelimit.Throttled(err)
		result.Add(name, values, err)
		if result.Silent[name] == nil {
			continue
		}
		since, before := l.past(k, attempts[i].sent)
		result.Since[name] = since
		if before != nil {
			result.Before[name] = before
		}
	}
	return result
}

// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
	"unique"

	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// A line asks one member for one API.
type line[T any] struct {
	board  *board[T]
	api    *api[T]
	source Source
	meter  *meter
	// ctx ends when the member leaves, for the cause left.
	ctx    context.Context
	cancel context.CancelCauseFunc
	wake   chan struct{}
	ready  bool   // as last seen by the board
	state  string // as last logged by the discovery

	mu        sync.Mutex
	over      bool // nothing may be started any more
	questions map[key]*question[T]
	// latest is, by subject and metric, the question that was answered last.
	latest  map[key]*question[T]
	version learning
	names   []unique.Handle[provider.CustomMetricInfo] // the member's part of the catalogue, without duplicates
	// failing is the start of the discovery's unbroken failures; zero while it
	// does not fail, or a question was answered since.
	failing time.Time
}

func newLine[T any](ctx context.Context, b *board[T], m Source) *line[T] {
	ctx, cancel := context.WithCancelCause(ctx)
	return &line[T]{
		board: b, api: b.api, source: m, meter: b.o.Metrics.of(m.Name(), b.api.name),
		ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1),
		ready: m.Silence() == nil, questions: map[key]*question[T]{}, latest: map[key]*question[T]{},
	}
}

// left returns why a question has no answer from a member that leaves meanwhile.
func left() error {
	return &fleet.Silence{Reason: fleet.ReasonUnreachable, Detail: "the cluster left the fleet during the request"}
}

// end makes the line start nothing more, ends what is in flight, and frees what it holds.
func (l *line[T]) end() {
	l.mu.Lock()
	l.over = true
	questions := slices.Collect(maps.Values(l.questions))
	clear(l.questions)
	clear(l.latest)
	l.mu.Unlock()
	l.changed(questions)
	l.cancel(left())
	l.meter.end()
}

// start runs f unless the line is over. l.mu must be held: so nothing is
// started behind the back of who waits for all that runs.
func (l *line[T]) start(f func()) bool {
	if !l.over {
		l.board.running.Go(f)
	}
	return !l.over
}

// noteReady wakes the discovery when the member became ready.
func (l *line[T]) noteReady() {
	ready := l.source.Silence() == nil
	if ready && !l.ready {
		signal(l.wake)
	}
	l.ready = ready
}

// put puts a question, or joins those who wait for its answer, or takes the
// answer of a moment ago. It does not wait.
func (l *line[T]) put(k key) *attempt[[]T] {
	a, used := l.join(k)
	if used != nil {
		l.board.o.Memory.Used(used)
	}
	return a
}

// notedFor is for how long it need not be noted again that a question is asked:
// those of all members are noted in one place.
const notedFor = time.Second

// join also returns the question if it is to be noted that it is asked.
func (l *line[T]) join(k key) (a *attempt[[]T], used *question[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	q := l.questions[k]
	if q != nil {
		q.asked = now // what was seen is not forgotten while the member is silent
		if now.Sub(q.noted) >= notedFor {
			q.noted, used = now, q
		}
	}
	if err := l.unasked(); err != nil {
		l.meter.served(servedNotAsked)
		return failed[[]T](err), used
	}
	if q == nil {
		q = l.add(k, now)
	}
	if a := q.last; a != nil && (!a.ended() || a.fresh(l.board.o.KeepFor)) {
		l.meter.served(servedBy(a.ended()))
		return a, used
	}
	return l.begin(q), used
}

// begin puts the question to the member. l.mu must be held.
func (l *line[T]) begin(q *question[T]) *attempt[[]T] {
	a := newAttempt[[]T]()
	if !l.start(func() { l.attend(q, a) }) {
		return failed[[]T](left())
	}
	l.meter.served(servedAsked)
	q.last = a
	return a
}

// unasked returns what stands for the answer of a member that is not to be asked.
func (l *line[T]) unasked() error {
	if l.source.IsHub() {
		return l.api.absent()
	}
	return l.source.Silence()
}

// attend brings an attempt to its end.
func (l *line[T]) attend(q *question[T], a *attempt[[]T]) {
	ctx, cancel := context.WithTimeout(l.ctx, l.board.o.Timeout)
	defer cancel()
	values, err := l.fetch(ctx, q.key)
	l.finish(q, a, values, err)
	l.board.o.Memory.Changed(q)
}

func (l *line[T]) finish(q *question[T], a *attempt[[]T], values []T, err error) {
	answer := l.weigh(values)
	silence, absent := fleet.Classify(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ratelimit.Throttled(err): // of the member it says nothing
	case silence != nil:
		err = silence // and nothing else that the member wrote, which may be long
		l.version.doubted = true
		q.noteFailure(a.sent)
	default:
		if absent {
			err = l.api.absent()
		}
		l.failing = time.Time{}
		l.share(q, &answer)
		q.noteAnswer(answer)
	}
	q.lastBytes = answer.bytes
	a.end(answer.values, err) // who waits for it finds what was noted
}

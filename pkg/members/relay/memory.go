// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// A question is what is known of one member and one key. The line's lock guards it.
type question[T any] struct {
	line  *line[T]
	key   key
	asked time.Time
	noted time.Time // when the memory was last told that it is asked
	// last is under way, or its outcome may serve others still.
	last      *attempt[[]T]
	lastBytes int64     // of its outcome
	answered  time.Time // zero if never
	failing   time.Time // when the first of its unbroken failures was asked for; zero when it does not fail
	// before are the series of the last answer, not nil, where they are remembered and there is one.
	before      merge.Seen
	beforeBytes int64
}

var _ memory.Kept = (*question[int])(nil)

// Namespace implements memory.Kept.
func (q *question[T]) Namespace() string { return q.key.subject.namespace }

// Bytes implements memory.Kept.
func (q *question[T]) Bytes() int64 {
	q.line.mu.Lock()
	defer q.line.mu.Unlock()
	if q.line.questions[q.key] != q {
		return 0
	}
	return questionBytes + q.key.bytes() + q.lastBytes + q.beforeBytes
}

// Forget implements memory.Kept. What is under way is spared: it would be asked
// twice at once. It is in the memory again when it ends.
func (q *question[T]) Forget() {
	q.line.mu.Lock()
	defer q.line.mu.Unlock()
	if q.underWay() {
		q.before, q.beforeBytes = nil, 0
	} else {
		q.line.forget(q)
	}
}

// changed has the memory know what became of questions. l.mu must not be held.
func (l *line[T]) changed(questions []*question[T]) {
	for _, q := range questions {
		l.board.o.Memory.Changed(q)
	}
}

// answer is what a member said.
type answer[T any] struct {
	values []T
	seen   merge.Seen // nil where nothing is remembered
	// bytes are those of the values, and seenBytes those of what was seen.
	bytes, seenBytes int64
}

// weigh takes an answer as it is to be kept: it holds no more room than it needs.
func (l *line[T]) weigh(values []T) answer[T] {
	if cap(values) > len(values) {
		values = append(make([]T, 0, len(values)), values...)
	}
	a := answer[T]{values: values}
	for i := range values {
		a.bytes += l.api.size(&values[i])
	}
	if l.api.seen != nil {
		a.seen = l.api.seen(values)
		a.seenBytes = seenSize(a.seen)
	}
	return a
}

// share replaces what the latest answer about the same metric had too: questions
// that differ by selectors that make no difference keep one copy. l.mu must be held.
func (l *line[T]) share(q *question[T], a *answer[T]) {
	if a.seen == nil {
		return
	}
	topic := key{subject: q.key.subject, metric: q.key.metric}
	if former := l.latest[topic]; former != nil && slices.Equal(former.before, a.seen) {
		a.seen = former.before
		if last := former.last; last != nil && last.ended() && last.err == nil && l.api.same(last.value, a.values) {
			a.values = last.value
		}
	}
	if l.questions[q.key] == q {
		l.latest[topic] = q
	}
}

func (q *question[T]) noteFailure(sent time.Time) {
	if q.failing.IsZero() {
		q.failing = sent
	}
}

func (q *question[T]) noteAnswer(a answer[T]) {
	q.answered, q.failing = time.Now(), time.Time{}
	q.before, q.beforeBytes = a.seen, a.seenBytes
}

func (q *question[T]) underWay() bool { return q.last != nil && !q.last.ended() }

// add notes that a question is asked. It is known to the memory when it has been answered.
func (l *line[T]) add(k key, now time.Time) *question[T] {
	q := &question[T]{line: l, key: k, asked: now, noted: now}
	l.questions[k] = q
	return q
}

// forget drops a question. l.mu must be held.
func (l *line[T]) forget(q *question[T]) {
	if l.questions[q.key] == q {
		delete(l.questions, q.key)
	}
	topic := key{subject: q.key.subject, metric: q.key.metric}
	if l.latest[topic] == q {
		delete(l.latest, topic)
	}
}

// forgetOld drops values that serve nobody any more, and questions that nobody asks.
func (l *line[T]) forgetOld(now time.Time) {
	l.changed(l.dropOld(now))
}

// dropOld returns what has changed.
func (l *line[T]) dropOld(now time.Time) (changed []*question[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.questions {
		if q.underWay() {
			continue
		}
		old, idle := q.last != nil && !q.last.fresh(l.board.o.KeepFor), now.Sub(q.asked) > l.board.o.IdleAfter
		if !old && !idle {
			continue
		}
		if old {
			q.last, q.lastBytes = nil, 0
		}
		if idle {
			l.forget(q)
		}
		changed = append(changed, q)
	}
	return changed
}

// past returns what is known of the member now that it is silent to k: since when,
// and its last answer, which is nil if there is none. Sent is when it was last asked.
func (l *line[T]) past(k key, sent time.Time) (since time.Time, before merge.Seen) {
	since = sent
	if l.source.Silence() != nil {
		since = earlier(since, l.source.State().Since)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	since = earlier(since, l.failing)
	q := l.questions[k]
	if q == nil {
		return since, nil
	}
	since = earlier(since, q.failing)
	if since.Before(q.answered) {
		since = q.answered
	}
	return since, q.before
}

// earlier takes a zero time for none.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// SPDX-License-Identifier: Apache-2.0

package relay

import "time"

// mostQuestions bounds what is remembered of one member's answers: beyond it
// what nobody has asked for the longest is forgotten.
const mostQuestions = 1000

// A question is what is known of one member and one key. The line's lock guards it.
type question[T any] struct {
	asked time.Time
	// last is under way, or its outcome may serve others still.
	last     *attempt[[]T]
	answered time.Time // zero if never
	failing  time.Time // when the first of its unbroken failures was asked for; zero when it does not fail
	before   []T       // the last answer, not nil, where it is remembered and there is one
}

func (q *question[T]) noteFailure(sent time.Time) {
	if q.failing.IsZero() {
		q.failing = sent
	}
}

func (q *question[T]) noteAnswer(values []T, remember bool) {
	q.answered, q.failing = time.Now(), time.Time{}
	if !remember {
		return
	}
	if q.before = values; values == nil {
		q.before = []T{}
	}
}

func (q *question[T]) underWay() bool { return q.last != nil && !q.last.ended() }

// add makes room for a question and notes that it is asked.
func (l *line[T]) add(k key) *question[T] {
	for len(l.questions) >= mostQuestions && l.forgetOldest() {
	}
	q := &question[T]{asked: time.Now()}
	l.questions[k] = q
	return q
}

// forgetOldest spares what is under way: it would be asked twice at once. It is
// false when that is all there is.
func (l *line[T]) forgetOldest() bool {
	var oldest key
	var asked time.Time
	for k, q := range l.questions {
		if !q.underWay() && (asked.IsZero() || q.asked.Before(asked)) {
			oldest, asked = k, q.asked
		}
	}
	delete(l.questions, oldest)
	return !asked.IsZero()
}

// forgetOld drops values that serve nobody any more, and questions that nobody asks.
func (l *line[T]) forgetOld(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, q := range l.questions {
		if q.underWay() {
			continue
		}
		if q.last != nil && !q.last.fresh(l.board.o.KeepFor) {
			q.last = nil
		}
		if now.Sub(q.asked) > l.board.o.IdleAfter {
			delete(l.questions, k)
		}
	}
}

// past returns what is known of the member now that it is silent to k: since when,
// and its last answer, which is nil if there is none. Sent is when it was last asked.
func (l *line[T]) past(k key, sent time.Time) (since time.Time, before []T) {
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

// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"slices"
	"time"
)

// A beat learns when a member's answers change, so that we ask just after.
//
// A metrics-server measures all its nodes once per resolution; between two
// measurements its answers stay the same. Asked at some fixed moment of that
// cycle, it gives values that have been there for half a resolution on
// average, which is age that we would add. The moment of change cannot be
// read off the timestamps (they are the kubelets'), but it can be found:
//
//	seeking    ask a step earlier each period: the answer is new, new, new …
//	narrowing  … until it is not: the change comes within a step. Ask again
//	           after half a step, and after the other half if need be.
//	locked     ask once per period at the moment just found
//	resting    ask once per period, wherever that falls
//
// A change that comes later than expected is waited for by narrowing again. One
// that comes earlier shows nowhere, so a locked beat is sought again from time
// to time. Where no beat is clear (two replicas behind one Service have two; a
// member may measure at another pace), it rests, longer each time without success.
//
// A beat holds no clock: it is told of each question and says when the next is due.
type beat struct {
	period time.Duration

	mode  beatMode
	left  int // questions until the mode ends: seeking, narrowing, locked and resting each count their own
	vain  int // searches in a row that found nothing that lasted
	doubt int // grows with each locked question too early, shrinks with each in time
	next  time.Time
	since time.Time // when a question last found the answer unchanged; zero: not known within this period

	changed time.Time // when a new answer was last found
	gaps    []time.Duration
}

type beatMode int

const (
	resting beatMode = iota
	seeking
	narrowing
	locked
)

const (
	// stepsPerPeriod: at a resolution of 15 s a step is 1.9 s, and a locked beat
	// asks within 0.9 s of the change.
	stepsPerPeriod = 8
	// lockedFor is 40 minutes at 15 s. Seeking again takes 2 or 3 questions more.
	lockedFor = 160
	// firstRest is the plain questions before the first search and after the first without success.
	firstRest = 2
	// longestRest is an hour at 15 s.
	longestRest = 240
	// A change that jitters is missed a few times, until we ask late enough; two
	// beats mixed are missed at every second question or so, forever.
	doubtPerMiss, doubtAllowed = 8, 48
	// gapsKept is how many times between two changes the observed period is judged by.
	gapsKept = 5
)

func newBeat(period time.Duration) *beat {
	return &beat{period: period, left: firstRest}
}

// question is one question to the member and whether its answer was new.
type question struct {
	sent, received time.Time
	changed        bool
}

// observe takes in the outcome of a question that was due.
func (b *beat) observe(q question) {
	b.keepGap(q)
	step := b.period / stepsPerPeriod
	b.left--
	switch b.mode {
	case resting:
		b.next = q.sent.Add(b.period)
		if b.left <= 0 && q.changed {
			b.since = time.Time{}
			b.enter(seeking, stepsPerPeriod+2)
			b.next = q.sent.Add(b.period - step)
		}
	case seeking:
		switch {
		case !q.changed:
			b.enter(narrowing, 3)
			b.next = q.sent.Add(step / 2)
		case b.left <= 0:
			b.rest(q) // it changes more often than we ask
		default:
			b.next = q.sent.Add(b.period - step)
		}
	case narrowing:
		switch {
		case q.changed:
			b.enter(locked, lockedFor)
			b.next = q.sent.Add(b.period)
		case b.left <= 0:
			b.rest(q) // it changes less often than we ask, or at no fixed time
		default:
			b.next = q.sent.Add(step / 2)
		}
	case locked:
		switch {
		case !q.changed:
			b.doubt += doubtPerMiss
			if b.doubt > doubtAllowed {
				b.rest(q) // what resembles a beat is chance
				break
			}
			b.enter(narrowing, 3)
			b.next = q.sent.Add(step / 2)
		case b.left <= 0:
			b.vain = 0
			b.enter(seeking, stepsPerPeriod+2)
			b.next = q.sent.Add(b.period - step)
		default:
			b.doubt = max(0, b.doubt-1)
			b.next = q.sent.Add(b.period)
		}
	}
	if !q.changed {
		b.since = q.sent
	}
}

func (b *beat) enter(mode beatMode, questions int) {
	b.mode, b.left = mode, questions
}

func (b *beat) rest(q question) {
	b.enter(resting, min(firstRest<<min(b.vain, 16), longestRest))
	b.vain++
	b.doubt = 0
	b.next = q.sent.Add(b.period)
}

// interrupted says that a question brought no answer at all: what was known of
// the member's beat may hold no longer.
func (b *beat) interrupted(at time.Time) {
	b.enter(resting, firstRest)
	b.since, b.changed = time.Time{}, time.Time{}
	b.next = at.Add(b.period)
}

// lateAtMost bounds how long a question's new answer had been there before it
// was taken: since that moment of the member's cycle at which an answer was
// last seen to be still the old one. It must be asked before observe(q).
func (b *beat) lateAtMost(q question) time.Duration {
	if b.mode == resting || b.since.IsZero() {
		return b.period
	}
	return q.received.Sub(b.since) % b.period
}

// keepGap keeps the times between changes.
func (b *beat) keepGap(q question) {
	if !q.changed {
		return
	}
	if !b.changed.IsZero() {
		b.gaps = append(b.gaps, q.received.Sub(b.changed))
		b.gaps = b.gaps[max(0, len(b.gaps)-gapsKept):]
	}
	b.changed = q.received
}

// observedPeriod is the usual time between two changes as we saw them, no
// shorter than our own period; our own period while too few were seen.
func (b *beat) observedPeriod() time.Duration {
	if len(b.gaps) < gapsKept {
		return b.period
	}
	return max(b.period, slices.Sorted(slices.Values(b.gaps))[gapsKept/2])
}

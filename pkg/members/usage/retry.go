// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// A new question is put to a member at once. If it fails, every answer lacks
// the member until it is asked again, and a period is long to wait. So it is
// asked again sooner where that may help: by one request at a time, however
// many questions wait; when that one is answered, for all of them.
//
// What has been answered before is still served, so it is left to the rounds. Their
// beat notices nothing of all this: nobody waits for anybody.
const (
	firstRetry  = time.Second // then twice as long each time, while it is less than a period
	retryJitter = 0.2
)

// retry asks again for what was never answered, until the member leaves.
func (s *scraper) retry() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.failed:
			s.retryUntilAnswered()
		}
	}
}

// retryUntilAnswered pauses for about a period in all. What has no answer by
// then is left to the rounds, so that it keeps nothing newer from being retried soon.
func (s *scraper) retryUntilAnswered() {
	backoff := wait.Backoff{Duration: firstRetry, Factor: 2, Jitter: retryJitter, Steps: math.MaxInt}
	for waiting := s.unanswered(); len(waiting) > 0; waiting = s.unanswered() {
		pause := backoff.Step()
		if pause >= s.period {
			leaveToRounds(waiting)
			return
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(pause):
			s.askAgain()
		}
	}
}

// askAgain asks for one of those that wait, and if that is answered, or fails
// for a reason of its own, for the others.
func (s *scraper) askAgain() {
	waiting := s.unanswered() // some may have been answered during the pause
	if len(waiting) == 0 {
		return
	}
	pilot := waiting[0] // map order makes it another one each time
	if a, _ := s.ask(pilot, false); isDown(a.err) {
		return
	}
	s.askAll(s.unanswered(), false)
}

// unanswered are the targets worth asking for before the next round. A member
// that is known to be silent has none: its first round comes when it is ready.
func (s *scraper) unanswered() (waiting []*target) {
	if s.source.Silence() != nil {
		return nil
	}
	for _, t := range s.hotTargets() {
		if t.unanswered() {
			waiting = append(waiting, t)
		}
	}
	return waiting
}

// unanswered is true when t has never had an answer, and may have one soon.
func (t *target) unanswered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked.IsZero() && !t.leftToRounds && isDown(t.failure)
}

func leaveToRounds(targets []*target) {
	for _, t := range targets {
		t.mu.Lock()
		t.leftToRounds = true
		t.mu.Unlock()
	}
}

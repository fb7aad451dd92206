// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
)

// ReasonNotYetAsked: the member has joined since the question was last put, and is being asked.
const ReasonNotYetAsked fleet.Reason = "NotYetAsked"

// A target is what one member said to one question, last.
type target struct {
	key key
	// first is closed once the first attempt has ended.
	first chan struct{}

	// asking holds a token during an attempt, so that there is one at a time.
	asking chan struct{}

	mu        sync.Mutex
	gone      bool // nobody will read it
	batch     *Batch
	bytes     int64     // of batch
	asked     time.Time // when batch was asked for
	attempted time.Time
	// onBeat is true when batch was taken by a round, so that comparing it with
	// the next round's tells something of the member's beat.
	onBeat  bool
	failure error // of the last attempt, as fleet.Classify takes it
	// leftToRounds is true when an answer did not come soon.
	leftToRounds bool
}

func newTarget(k key) *target {
	return &target{key: k, first: make(chan struct{}), asking: make(chan struct{}, 1)}
}

// isNamespace is true of all pods of one.
func (t *target) isNamespace() bool { return t.key.resource == podsResource && t.key.selector == "" }

// attempt is the outcome of asking once.
type attempt struct {
	sent, received time.Time
	batch          *Batch
	err            error
	onBeat         bool
}

// comparison reports whether an attempt's samples are newer than those before.
type comparison struct {
	newer bool
	// tells is false when there was nothing to compare with.
	tells bool
}

// with returns what two comparisons tell together.
func (c comparison) with(other comparison) comparison {
	return comparison{
		newer: c.newer && c.tells || other.newer && other.tells,
		tells: c.tells || other.tells,
	}
}

// keep files an attempt. A member that says it has no such API has no
// samples; one that failed keeps those it gave before.
func (t *target) keep(a attempt) comparison {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.attempted.IsZero() {
		defer close(t.first)
	}
	if a.sent.Before(t.asked) {
		return comparison{} // what was asked for later has come earlier
	}
	t.attempted, t.failure = a.received, nil
	switch silence, absent := fleet.Classify(a.err); { // and nothing else that the member wrote, which may be long
	case silence != nil:
		t.failure = silence
		return comparison{}
	case absent:
		t.failure = apierrors.NewNotFound(metrics.Resource(t.key.resource), "")
	}
	c := a.batch.compare(t.batch)
	c.tells = c.tells && t.onBeat
	t.batch, t.asked, t.onBeat, t.bytes = a.batch, a.sent, a.onBeat, a.batch.bytes()
	return c
}

var _ memory.Kept = (*target)(nil)

// Namespace implements memory.Kept.
func (t *target) Namespace() string { return t.key.namespace }

// Bytes implements memory.Kept.
func (t *target) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return 0
	}
	return t.bytes
}

// Forget implements memory.Kept. The member counts as silent until samples come for which there is room.
func (t *target) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batch, t.bytes, t.asked = nil, 0, time.Time{}
	t.failure = &fleet.Silence{Reason: fleet.ReasonTooLarge,
		Detail: "beyond its namespace's share of --max-kept-bytes"}
}

// own frees the list that what is kept is a part of.
func (t *target) own() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batch = t.batch.own()
}

// leave is for a target that nobody will read any more.
func (t *target) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
}

// labelled is true when t holds a sample with a label.
func (t *target) labelled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.batch.labelled()
}

// read returns what may be served now: the samples, or why there are none.
func (t *target) read(now time.Time, maxAge time.Duration) (*Batch, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	silence, absent := fleet.Classify(t.failure)
	switch age := now.Sub(t.asked); {
	case t.attempted.IsZero():
		return nil, &fleet.Silence{Reason: ReasonNotYetAsked, Detail: "being scraped for the first time"}
	case absent:
		return nil, t.failure
	case !t.asked.IsZero() && age <= maxAge:
		return t.batch, nil
	case silence != nil:
		return nil, silence
	default:
		return nil, &fleet.Silence{Reason: fleet.ReasonStale, Detail: fmt.Sprintf("last scraped %s ago", age.Round(time.Second))}
	}
}

// size is the number of samples held, and the age of what is held.
func (t *target) size(now time.Time) (samples int, age time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked.IsZero() {
		return 0, 0
	}
	return t.batch.Len(), now.Sub(t.asked)
}

// failed is true when the last attempt brought no answer.
func (t *target) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	silence, _ := fleet.Classify(t.failure)
	return silence != nil
}

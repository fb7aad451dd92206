// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

const (
	// closedAfter is after what time nobody has the page of an autoscaler open: an open one asks every 10 s, and a browser lets one that is
	// not seen ask once a minute.
	closedAfter = 2 * time.Minute
	// leastPause is between two questions for what came since: each has the leader read a part of its record.
	leastPause = 5 * time.Second
	// unservedPause is for how long a hub that has no API for records is not asked for any.
	unservedPause = 5 * time.Minute
	// firstWait is how long a page waits for its record: it is shown without, and asks again.
	firstWait = time.Second
)

// room bounds what a page keeps.
type room struct {
	// seen is how many values the points may have that were seen since it was opened, of all autoscalers.
	seen int
	// open is how many autoscalers have theirs kept: those that were asked for last.
	open int
	// bytes and values are how much of each is kept: of the decisions, and of the points that are drawn.
	bytes, values int
}

// ownRoom is that of a page that one person has: of a few clusters and a decision in 15 s, some weeks.
var ownRoom = room{seen: mostWeight, open: 16, bytes: 4 << 20, values: mostValues}

// asking asks for the record of an object from a time on; the zero time: for all of it.
type asking func(ctx context.Context, of recording.Object, since time.Time) (io.ReadCloser, error)

// turnsOf are the turns that who reads a record of a namespace takes; done follows.
type turnsOf func(namespace string) (all turns, done func())

// noTurns has anybody read.
func noTurns(string) (all turns, done func()) { return nil, func() {} }

// histories are the records of autoscalers whose pages are open, as the hub has them.
type histories struct {
	ctx context.Context //nolint:containedctx // it is the life of the page: reading outlives a question, and nothing is kept after it
	ask asking
	room
	turnsOf turnsOf

	mu   sync.Mutex
	open map[string]*history
	rest time.Time // until then the hub is not asked
}

// history is the record of one autoscaler.
type history struct {
	ctx     context.Context //nolint:containedctx // it is the life of what is kept, which outlives a question
	end     context.CancelFunc
	of      recording.Object
	archive *replaying.Archive // of what is kept
	used    time.Time
	closes  *time.Timer

	began    time.Time     // the last reading
	ended    chan struct{} // closed when it has; nil: none continues
	tail     tail          // of who reads
	known    *recorded
	segments [][]byte
	trouble  string
}

// newHistories has nothing kept once ctx ends. Who reads takes turns.
func newHistories(ctx context.Context, ask asking, room room, turnsOf turnsOf) *histories {
	h := &histories{ctx: ctx, ask: ask, room: room, turnsOf: turnsOf, open: map[string]*history{}}
	context.AfterFunc(ctx, h.close)
	return h
}

func (h *histories) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.open {
		h.forget(id)
	}
}

func (h *histories) forget(id string) {
	h.open[id].closes.Stop()
	h.open[id].end()
	delete(h.open, id)
}

// past is what the record has of an autoscaler; nil: nothing, or nothing yet. It is as old as the last answer.
func (h *histories) past(ctx context.Context, id string) before {
	of, is := recordedObject(id)
	if !is {
		return before{}
	}
	h.mu.Lock()
	if h.ctx.Err() != nil {
		h.mu.Unlock()
		return before{}
	}
	one := h.use(id, of)
	if now := time.Now(); one.ended == nil && now.Sub(one.began) >= leastPause && !now.Before(h.rest) {
		one.began, one.ended = now, make(chan struct{})
		go h.refresh(one)
	}
	ended := one.ended
	h.mu.Unlock()
	if ended != nil {
		select {
		case <-ended:
		case <-time.After(firstWait):
		case <-ctx.Done():
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return before{one.known, one.trouble, one.ended != nil && one.known == nil}
}

// use is the one of an autoscaler whose page asks.
func (h *histories) use(id string, of recording.Object) *history {
	one := h.open[id]
	if one == nil {
		one = &history{of: of, tail: newTail(h.room)}
		one.ctx, one.end = context.WithCancel(h.ctx)
		one.archive = replaying.NewArchive(func() (io.ReadCloser, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return reading(one.segments), nil
		})
		one.closes = time.AfterFunc(closedAfter, func() { h.drop(id, one) })
		h.open[id] = one
	}
	one.used = time.Now()
	one.closes.Reset(closedAfter)
	for len(h.open) > h.room.open {
		var longest string
		for id, other := range h.open {
			if longest == "" || other.used.Before(h.open[longest].used) {
				longest = id
			}
		}
		h.forget(longest)
	}
	return one
}

func (h *histories) drop(id string, one *history) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[id] == one && time.Since(one.used) >= closedAfter {
		h.forget(id)
	}
}

// refresh reads what has come since the last reading.
func (h *histories) refresh(one *history) {
	ctx, cancel := context.WithTimeout(one.ctx, readTimeout)
	defer cancel()
	err := h.take(ctx, one)
	if apierrors.IsForbidden(err) { // who lost the right to a record loses what was read of it
		one.tail = newTail(h.room)
	}
	known, segments := one.tail.past()
	h.mu.Lock()
	defer h.mu.Unlock()
	if errors.Is(err, replaying.ErrNotServed) { // which is no trouble: records are optional
		h.rest, err = time.Now().Add(unservedPause), nil
	}
	one.known, one.segments, one.trouble = known, segments, recordTrouble(err)
	close(one.ended)
	one.ended = nil
}

func (h *histories) take(ctx context.Context, one *history) error {
	turns, done := h.turnsOf(one.of.Namespace)
	defer done()
	leave, err := turns.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	body, err := h.ask(ctx, one.of, one.tail.since())
	if err != nil {
		return err
	}
	defer body.Close()
	return one.tail.take(body)
}

// archiveOf has the decisions of an autoscaler whose page is open.
func (h *histories) archiveOf(id string) *replaying.Archive {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one := h.open[id]; one != nil {
		return one.archive
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"sync"
)

// turns has few at one time do what takes memory and time: as many as each channel has room for. Without a channel anybody does.
type turns []chan struct{}

// take waits for a turn, which leave ends. Whose context has ended has none, even if one is free.
func (t turns) take(ctx context.Context) (leave func(), err error) {
	taken := 0
	leave = func() {
		for _, of := range t[:taken] {
			<-of
		}
	}
	for _, of := range t {
		select {
		case of <- struct{}{}:
			taken++
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			leave()
			return nil, err
		}
	}
	return leave, nil
}

// queues are a turn for each of some names, which one has at a time. The zero value is ready for use.
type queues struct {
	mu     sync.Mutex
	joined map[string]*queue
}

type queue struct {
	turn chan struct{}
	// in is how many have the turn, wait for it, or will.
	in int
}

// join returns the turn of a name. Who is done leaves, so that nothing is kept of names that nobody asks for.
func (q *queues) join(name string) (turn chan struct{}, leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := q.joined[name]
	if of == nil {
		if q.joined == nil {
			q.joined = map[string]*queue{}
		}
		of = &queue{turn: make(chan struct{}, 1)}
		q.joined[name] = of
	}
	of.in++
	return of.turn, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if of.in--; of.in == 0 {
			delete(q.joined, name)
		}
	}
}

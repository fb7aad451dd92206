// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// key tells one thing that is kept from another. It is a hash: what is hashed is a secret.
type key [sha256.Size]byte

var (
	errFull     = errors.New("too many people have this page open at present")
	errOfReader = errors.New("you have too many of these pages open")
)

// limits bound what is kept of readers.
type limits struct {
	// most is how many are kept, and mostOfReader how many of one reader.
	most, mostOfReader int
	// idle is for how long what nobody uses is kept, and life for how long anything is.
	idle, life time.Duration
}

// pool keeps things of readers, each for a while. What is used is ended by its age alone: who asks for more is refused instead.
type pool[V any] struct {
	limits
	now func() time.Time

	mu   sync.Mutex
	held map[key]*held[V]
}

// held is one thing that is kept. Its context ends with it.
type held[V any] struct {
	value       V
	reader      string
	ctx         context.Context //nolint:containedctx // it is the life of the thing, and not of a call
	end         context.CancelFunc
	since, used time.Time
	using       int
}

func newPool[V any](l limits, now func() time.Time) *pool[V] {
	return &pool[V]{limits: l, now: now, held: map[key]*held[V]{}}
}

// put keeps what is made for a reader, in place of what was kept by that key. It is given the context that ends with it.
func (p *pool[V]) put(ctx context.Context, k key, reader string, made func(context.Context) V) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	p.remove(k)
	p.expire()
	if err := p.makeRoom(reader); err != nil {
		return err
	}
	h := &held[V]{reader: reader, since: p.now(), used: p.now()}
	h.ctx, h.end = context.WithCancel(ctx)
	h.value = made(h.ctx)
	p.held[k] = h
	return nil
}

// makeRoom ends what was not used for the longest time, where there is too much: the reader's own, if that is too much.
func (p *pool[V]) makeRoom(reader string) error {
	ofReader := 0
	for _, h := range p.held {
		if h.reader == reader {
			ofReader++
		}
	}
	switch {
	case ofReader >= p.mostOfReader:
		return p.endOne(func(h *held[V]) bool { return h.reader == reader }, errOfReader)
	case len(p.held) >= p.most:
		return p.endOne(func(*held[V]) bool { return true }, errFull)
	}
	return nil
}

// endOne ends the one of some that was not used for the longest time; without one there is the error.
func (p *pool[V]) endOne(among func(*held[V]) bool, without error) error {
	var oldest key
	found := false
	for k, h := range p.held {
		if h.using == 0 && among(h) && (!found || h.used.Before(p.held[oldest].used)) {
			oldest, found = k, true
		}
	}
	if !found {
		return without
	}
	p.remove(oldest)
	return nil
}

// take returns what is kept, and is followed by release.
func (p *pool[V]) take(k key) (of *held[V], found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	of, found = p.held[k]
	if found {
		of.using++
	}
	return of, found
}

func (p *pool[V]) release(of *held[V]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of.using--
	of.used = p.now()
}

// sweep ends what is too old, or was not used for too long.
func (p *pool[V]) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
}

func (p *pool[V]) expire() {
	now := p.now()
	for k, h := range p.held {
		if now.Sub(h.since) >= p.life || h.using == 0 && now.Sub(h.used) >= p.idle {
			p.remove(k)
		}
	}
}

// drop ends all that is of some kind.
func (p *pool[V]) drop(which func(V) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, h := range p.held {
		if which(h.value) {
			p.remove(k)
		}
	}
}

func (p *pool[V]) remove(k key) {
	if h := p.held[k]; h != nil {
		h.end()
		delete(p.held, k)
	}
}

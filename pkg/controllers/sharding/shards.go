// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/fence"
	"github.com/fleetscale/fleetscale/pkg/hub/shardlease"
	"github.com/fleetscale/fleetscale/pkg/shards"
)

// Options configure [Shards].
type Options struct {
	// Shards is how many there are.
	Shards int
	// Hub reads from the cache that the controllers read from, and Live from the hub's API server itself.
	Hub, Live client.Reader
	// Timeout is for how long a shard that is given up waits for what is in progress.
	Timeout time.Duration
	Metrics *Metrics
}

// Shards are those that this replica works on, for all controllers. nil stands for all, while the replica leads.
type Shards struct {
	Options
	mu          sync.Mutex
	works       map[int]*work
	controllers []*divided
}

var _ shardlease.Work = (*Shards)(nil)

// New returns none; controllers are added by [Shards.Complete].
func New(o Options) *Shards { return &Shards{Options: o, works: map[int]*work{}} }

// work is what is done on one shard, from its beginning to its end.
type work struct {
	lease context.Context // with its fence
	// ctx ends with the lease, or once there was time enough to complete what is in progress.
	ctx    context.Context
	cancel context.CancelFunc

	inProgress sync.WaitGroup // grows only while the shards' lock is held, and this is among them

	mu sync.Mutex
	// fresh are the objects that the cache was seen to know as the hub does.
	fresh map[of]struct{}
}

// of is an object of a controller.
type of struct {
	controller *divided
	key        client.ObjectKey
}

// Begin queues the objects of the shard.
func (s *Shards) Begin(lease context.Context, shard int) {
	ctx, cancel := context.WithCancel(lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.works[shard] = &work{lease: lease, ctx: ctx, cancel: cancel, fresh: map[of]struct{}{}}
	s.Metrics.holds(len(s.works))
	for _, c := range s.controllers {
		go c.enqueue(ctx, s.in(shard)) // which waits until the cache has been filled
	}
}

// End lets what is in progress complete, has controllers forget the shard's objects, and only then returns.
func (s *Shards) End(shard int) {
	s.mu.Lock()
	w := s.works[shard]
	delete(s.works, shard)
	s.Metrics.holds(len(s.works)) // within the lock, as shards end at once, and the last one to be told is what stays
	controllers := s.controllers
	s.mu.Unlock()
	late := time.AfterFunc(s.Timeout, w.cancel)
	w.inProgress.Wait()
	late.Stop()
	s.Metrics.ended(w.lease.Err() != nil)
	for _, c := range controllers {
		c.Leave(w.lease, s.in(shard))
	}
	w.cancel()
}

// in reports which objects are in a shard.
func (s *Shards) in(shard int) func(client.ObjectKey) bool {
	return func(key client.ObjectKey) bool { return shards.Of(key.Namespace, key.Name, s.Shards) == shard }
}

// enter returns the work on the shard of an object, in which one more is in progress; nil: it is not ours.
func (s *Shards) enter(key client.ObjectKey) *work {
	shard := shards.Of(key.Namespace, key.Name, s.Shards)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.works[shard]
	if w != nil {
		w.inProgress.Add(1)
	}
	return w
}

// Part returns how many of all shards this replica works on.
func (s *Shards) Part() (held, all int) {
	if s == nil {
		return 1, 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.works), s.Shards
}

// Fraction is how much of a rate of requests that all replicas share is this one's: as of the shards, and of one at least, since it probes
// members without any.
func (s *Shards) Fraction() float64 {
	held, all := s.Part()
	return float64(max(held, 1)) / float64(all)
}

// within is ctx as long as there is time to complete the work, with the fence of its lease.
func (w *work) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(fence.With(ctx, fence.Of(w.lease)))
	stop := context.AfterFunc(w.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (w *work) isFresh(o of) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, is := w.fresh[o]
	return is
}

func (w *work) setFresh(o of, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if is {
		w.fresh[o] = struct{}{}
	} else {
		delete(w.fresh, o)
	}
}

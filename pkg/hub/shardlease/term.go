// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/fleetscale/fleetscale/pkg/fence"
)

// term is from the first try for a shard's Lease until it is lost or released.
type term struct {
	shard int
	work  Work
	own   *Lock
	// stop has the Lease released, or no longer tried for.
	stop context.CancelFunc

	mu    sync.Mutex
	phase phase
	lease context.Context // ends when the Lease is lost
	lose  context.CancelFunc
	// expiry ends the lease in time: the library tries to release it first, for as long as the hub does not answer.
	expiry *time.Timer
	ended  chan struct{} // closed once no work is in progress, and none begins
}

type phase int

const (
	tries phase = iota
	holds
	works
	ends
)

// acquired notes that the Lease is held.
func (t *term) acquired(lease context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == tries {
		t.phase = holds
		t.lease, t.lose = context.WithCancel(lease)
		t.expiry = time.AfterFunc(time.Until(*t.own.until.Load()), t.expire)
	}
}

func (t *term) held() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.phase == holds
}

func (t *term) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == holds {
		t.phase = works
		t.work.Begin(fence.With(t.lease, t.own.Fence), t.shard)
	}
}

// end has the work end; the channel is closed once it has.
func (t *term) end() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == ends {
		return t.ended
	}
	worked := t.phase == works
	t.phase = ends
	go func() {
		defer close(t.ended)
		if worked {
			t.work.End(t.shard)
		}
		if t.expiry != nil {
			t.expiry.Stop()
			t.lose()
		}
	}()
	return t.ended
}

// giveUp releases the Lease once the work has ended, and renews it until then.
func (t *term) giveUp() {
	ended := t.end()
	go func() {
		<-ended
		t.stop()
	}()
}

// renewed notes that the Lease was renewed.
func (t *term) renewed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.expiry != nil {
		t.expiry.Reset(time.Until(*t.own.until.Load()))
	}
}

// expire ends what is in progress: the Lease was not renewed in time, even if it still comes to be.
func (t *term) expire() {
	if t.own.Fence() != nil { // else it was renewed just now
		t.lose()
		t.giveUp()
	}
}

// lock is the Lease of a shard, as the library's election takes it.
type lock struct {
	*Lock
	term *term
	// expired reports whether the record has been seen for so long that anybody may take the Lease. The library begins to read a Lease
	// only when it begins to try for it.
	expired func(*resourcelock.LeaderElectionRecord) bool
}

func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Lock.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() && l.expired(record) {
		record.HolderIdentity = "" // it is taken only if nobody has changed it since
	}
	return record, raw, err
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.renewed(l.Lock.Create(ctx, record))
}

func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" { // released, for whatever reason
		select {
		case <-l.term.end():
		case <-ctx.Done():
			return ctx.Err() // it is not, as somebody still works: it expires
		}
		return l.Lock.Update(ctx, record)
	}
	return l.renewed(l.Lock.Update(ctx, record))
}

func (l *lock) renewed(err error) error {
	if err == nil {
		l.term.renewed()
	}
	return err
}

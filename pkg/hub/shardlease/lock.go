// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a Lease as an election takes it, for work that must not outlast it. The library releases a Lease if it held it by what it saw
// last, and writes to the version that it reads just before: who stood still for longer than its Lease would release that of the next
// holder, and take it again. And it tells that a Lease is lost only once it has tried to release it. This one is released by who holds it
// only; and once it was not renewed for the renew deadline, nothing may be written ([Lock.Fence]), and it is no longer renewed.
//
// It is used by one election, which does one thing at a time.
type Lock struct {
	resourcelock.Interface
	renewDeadline time.Duration
	read          string // who held it when it was last read
	// until is until when it was renewed well enough for writes; nil: it was not taken yet.
	until atomic.Pointer[time.Time]
}

// NewLock returns a lock for one election.
func NewLock(lease resourcelock.Interface, renewDeadline time.Duration) *Lock {
	return &Lock{Interface: lease, renewDeadline: renewDeadline}
}

var (
	errTaken = errors.New("not released: another has taken it")
	errLost  = errors.New("the Lease could not be renewed in time")
)

// Fence is closed from when the Lease was not renewed for the renew deadline, counted from when the last renewal was sent, even if nobody
// has noticed yet. Until the Lease is taken it is open.
func (l *Lock) Fence() error {
	if until := l.until.Load(); until != nil && !time.Now().Before(*until) {
		return errLost
	}
	return nil
}

// Get notes who holds it. Who had it, and sees that another has, as where somebody has deleted it, has lost it.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err != nil {
		return record, raw, err
	}
	l.read = record.HolderIdentity
	if l.read != "" && l.read != l.Identity() && l.until.Load() != nil && l.Fence() == nil {
		now := time.Now()
		l.until.Store(&now)
	}
	return record, raw, nil
}

// Create takes it.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.renew(func() error { return l.Interface.Create(ctx, record) })
}

// Update takes, renews or releases it.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	switch {
	case record.HolderIdentity != "":
		return l.renew(func() error { return l.Interface.Update(ctx, record) })
	case l.read != l.Identity():
		return errTaken
	}
	return l.Interface.Update(ctx, record)
}

func (l *Lock) renew(write func() error) error {
	if err := l.Fence(); err != nil {
		return err
	}
	sent := time.Now()
	if err := write(); err != nil {
		return err
	}
	until := sent.Add(l.renewDeadline)
	l.until.Store(&until)
	return nil
}

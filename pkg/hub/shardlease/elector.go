// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/shards"
)

// jitter is what is added to a pause at most, as in the library, so that not all ask at once.
const jitter = 0.2

// Elector holds the shards that this replica should hold.
type Elector struct {
	Options
	changed chan struct{} // a Lease was acquired, or a term is over
	running sync.WaitGroup
	alive   membership

	mu    sync.Mutex // never held during a request
	terms map[int]*term
	seen  sightings
}

// New returns an elector. It is an error if the library does not take these times.
func New(o Options) (*Elector, error) {
	e := &Elector{Options: o, changed: make(chan struct{}, 1), terms: map[int]*term{}, alive: membership{options: &o}}
	_, err := e.election(&term{}, nil)
	return e, err
}

// Run holds shards until ctx ends; then it gives up all, and returns once nothing is done on any.
func (e *Elector) Run(ctx context.Context) error {
	defer e.end(ctx)
	for {
		e.step(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-e.changed:
		case <-time.After(wait.Jitter(e.RetryPeriod, jitter)):
		}
	}
}

// step reads all Leases, and tries for shards, begins to work on them, or gives them up.
func (e *Elector) step(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, e.RenewDeadline)
	defer cancel()
	held := e.held() // before it is asked who else works
	if err := e.look(asking); err != nil {
		if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Could not read who holds which shard")
		}
		return
	}
	e.mu.Lock()
	hold, begin := shards.Decide(e.seen.view(&e.Options, time.Now()))
	terms := maps.Clone(e.terms)
	e.mu.Unlock()
	for shard, should := range hold {
		switch t := terms[shard]; {
		case should && t == nil:
			e.try(ctx, shard)
		case t == nil:
		case !should:
			t.giveUp()
		case begin && slices.Contains(held, t):
			t.begin()
		}
	}
}

// look renews the replica's own Lease, and reads all.
func (e *Elector) look(ctx context.Context) error {
	if err := e.alive.renew(ctx); err != nil {
		return fmt.Errorf("renewing the Lease of this replica: %w", err)
	}
	found, err := e.Leases.Leases(e.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the Leases: %w", err)
	}
	e.mu.Lock()
	e.seen.saw(found.Items, time.Now())
	abandoned := e.seen.abandoned(&e.Options, time.Now())
	e.mu.Unlock()
	for _, lease := range abandoned {
		if err := e.alive.remove(ctx, lease); err != nil {
			return fmt.Errorf("deleting the Lease of a replica that is gone: %w", err)
		}
	}
	return nil
}

// Others returns the values of an annotation of the Leases of the other replicas that are alive, as they were seen last.
func (e *Elector) Others(annotation string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen.annotated(&e.Options, annotation, time.Now())
}

func (e *Elector) held() (held []*term) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.terms {
		if t.held() {
			held = append(held, t)
		}
	}
	return held
}

// try tries for the Lease of a shard, and renews it, until the term is over.
func (e *Elector) try(ctx context.Context, shard int) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // work ends before the Lease does
	t := &term{shard: shard, work: e.Work, stop: stop, ended: make(chan struct{})}
	election, err := e.election(t, func(record *resourcelock.LeaderElectionRecord) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.seen.shows(e.shardLease(shard), record, time.Now())
	})
	if err != nil { // it would have been in New
		stop()
		return
	}
	e.mu.Lock()
	e.terms[shard] = t
	e.mu.Unlock()
	e.running.Go(func() {
		defer stop()
		election.Run(ctx)
		<-t.end()
		e.mu.Lock()
		delete(e.terms, shard)
		e.mu.Unlock()
		e.again()
	})
}

func (e *Elector) election(t *term, expired func(*resourcelock.LeaderElectionRecord) bool) (*leaderelection.LeaderElector, error) {
	name := e.shardLease(t.shard)
	t.own = NewLock(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: name}, Client: e.Leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.ID},
	}, e.RenewDeadline)
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &lock{Lock: t.own, term: t, expired: expired},
		Name:          name,
		LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lease context.Context) {
				t.acquired(lease)
				e.again()
			},
			OnStoppedLeading: func() {},
		},
	})
}

// again has the next step taken at once.
func (e *Elector) again() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// end gives up all shards. Nobody counts on this replica by then, so that others try for them.
func (e *Elector) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.RenewDeadline)
	defer cancel()
	if err := e.alive.leave(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "Could not delete the Lease of this replica, which expires")
	}
	e.mu.Lock()
	for _, t := range e.terms {
		t.giveUp()
	}
	e.mu.Unlock()
	e.running.Wait()
}

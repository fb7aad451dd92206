// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// follower keeps some objects of the hub current.
type follower struct {
	informer cache.SharedIndexInformer
	synced   atomic.Bool
	trouble  atomic.Pointer[fleet.Silence] // why the objects could not be read the last time
}

// following is what a follower tells.
type following struct {
	changed func(name string) // an object came, changed or went
	synced  func()            // after changed was called for all first objects
	failed  func()            // the objects could not be read; it goes on trying
}

// follow runs an informer until ctx ends.
func follow(ctx context.Context, running *sync.WaitGroup, informer cache.SharedIndexInformer, tell following) (*follower, error) {
	f := &follower{informer: informer}
	failed := func(ctx context.Context, r *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		silence, absent := fleet.Classify(err)
		if absent {
			silence = silencef(fleet.ReasonBadAnswer, "%v", err)
		}
		f.trouble.Store(silence)
		tell.failed()
	}
	if err := informer.SetWatchErrorHandlerWithContext(failed); err != nil {
		return nil, fmt.Errorf("setting the error handler: %w", err)
	}
	changed := func(object any) {
		if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = deleted.Obj
		}
		if m, err := meta.Accessor(object); err == nil {
			tell.changed(m.GetName())
		}
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, now any) { changed(now) }, DeleteFunc: changed,
	})
	if err != nil {
		return nil, fmt.Errorf("adding a handler: %w", err)
	}
	running.Go(func() { informer.RunWithContext(ctx) })
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-handler.HasSyncedChecker().Done():
			f.synced.Store(true)
			tell.synced()
		}
	})
	return f, nil
}

// get is the object of that store key, as it was last seen.
func (f *follower) get(storeKey string) (any, bool) {
	object, ok, err := f.informer.GetStore().GetByKey(storeKey)
	return object, ok && err == nil
}

// why adds to what is awaited the trouble there is with it.
func (f *follower) why(what string) string {
	if trouble := f.trouble.Load(); trouble != nil {
		return fmt.Sprintf("%s (%s)", what, trouble)
	}
	return what
}

// withoutManagedFields drops what nobody here reads.
func withoutManagedFields(object any) (any, error) {
	if m, err := meta.Accessor(object); err == nil {
		m.SetManagedFields(nil)
	}
	return object, nil
}

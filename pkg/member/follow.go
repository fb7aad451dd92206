// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// A shared informer costs some 80 KiB and a dozen goroutines; there may be one
// for each Karmada Cluster. So followers are reflectors with a store of their own.

// follower keeps some objects of the hub, of one kind and namespace, current.
type follower struct {
	shelf   *shelf
	read    *cache.Reflector
	trouble atomic.Pointer[fleet.Silence] // why the objects could not be read the last time
	tell    following
}

// following is what a follower tells. Its functions must not block.
type following struct {
	changed func(name string) // an object came, changed or went
	synced  func()            // once, after changed was called for all first objects
	failed  func()            // the objects could not be read; it goes on trying
}

// questions are how the objects are read.
type questions struct {
	client any // whose these are
	list   func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch  func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// keep makes of an object what is kept of it.
	keep func(any) metav1.Object
}

// longestRetry bounds the wait for the next attempt to read from the hub.
const longestRetry = 10 * time.Second

// follow reads the objects until ctx ends.
func follow(ctx context.Context, running *sync.WaitGroup, what string, q questions, tell following) *follower {
	f := newFollower(what, q, tell)
	f.start(ctx, running)
	return f
}

// newFollower reads nothing, and tells nothing, before it is started.
func newFollower(what string, q questions, tell following) *follower {
	f := &follower{tell: tell, shelf: &shelf{keep: q.keep, tell: tell, objects: map[string]metav1.Object{}}}
	questions := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := q.list(ctx, o)
			f.note(ctx, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := q.watch(ctx, o)
			f.note(ctx, err)
			return w, err
		},
	}, q.client)
	f.read = cache.NewReflectorWithOptions(questions, nil, f.shelf, cache.ReflectorOptions{
		Name: "member", TypeDescription: what,
		Backoff: &wait.Backoff{Duration: firstRetry, Factor: 2, Steps: 10, Cap: longestRetry, Jitter: 0.2},
	})
	return f
}

func (f *follower) start(ctx context.Context, running *sync.WaitGroup) {
	running.Go(func() { f.read.RunWithContext(ctx) })
}

// note keeps what went wrong, for those who wait.
func (f *follower) note(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		f.trouble.Store(nil)
		return
	}
	silence, absent := fleet.Classify(err)
	if absent {
		silence = silencef(fleet.ReasonBadAnswer, "%v", err)
	}
	f.trouble.Store(silence)
	f.tell.failed()
}

// why adds to what is awaited the trouble there is with it.
func (f *follower) why(what string) string {
	if trouble := f.trouble.Load(); trouble != nil {
		return fmt.Sprintf("%s (%s)", what, trouble)
	}
	return what
}

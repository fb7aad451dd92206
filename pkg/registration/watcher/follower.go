// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

const (
	// firstRetry is the wait after a first failure to read from the hub; it doubles up to longestRetry.
	firstRetry   = time.Second
	longestRetry = 10 * time.Second
)

// follower keeps some objects of the hub current: of each what keep makes of it.
type follower[T any] struct {
	namespace string
	// qualified names have the namespace before them in any case.
	qualified bool
	keep      func(*unstructured.Unstructured) T
	tell      following
	read      *cache.Reflector // its store is the follower
	stop      context.CancelFunc
	trouble   atomic.Pointer[fleet.Silence] // why the objects could not be read the last time

	mu      sync.Mutex
	synced  bool
	objects map[string]T // by name
}

// following is what a follower tells. Its functions must not block.
type following struct {
	changed func(name string) // an object came, changed or went
	synced  func()            // once, after changed was called for all first objects
	failed  func()            // the objects could not be read; it keeps trying
}

// newFollower follows the objects, or only the one of that name, once it is started.
func newFollower[T any](
	hub dynamic.Interface, what registration.Watch, name string, keep func(*unstructured.Unstructured) T, tell following,
) *follower[T] {
	f := &follower[T]{
		namespace: what.Namespace, qualified: len(what.Namespaces) > 0, keep: keep, tell: tell, objects: map[string]T{},
	}
	objects := hub.Resource(what.Resource).Namespace(what.Namespace)
	narrow := func(o *metav1.ListOptions) {
		o.LabelSelector = what.LabelSelector
		if name != "" {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}
	}
	questions := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			narrow(&o)
			list, err := objects.List(ctx, o)
			f.note(ctx, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			narrow(&o)
			w, err := objects.Watch(ctx, o)
			f.note(ctx, err)
			return w, err
		},
	}, hub)
	f.read = cache.NewReflectorWithOptions(questions, nil, f, cache.ReflectorOptions{
		Name: "registration", TypeDescription: what.What,
		Backoff: &wait.Backoff{Duration: firstRetry, Factor: 2, Steps: 10, Cap: longestRetry, Jitter: 0.2},
	})
	return f
}

// start follows the objects until ctx ends or stop is called.
func (f *follower[T]) start(ctx context.Context, running *sync.WaitGroup) {
	ctx, f.stop = context.WithCancel(ctx)
	running.Go(func() { f.read.RunWithContext(ctx) })
}

// inherit has the objects be those of another follower until they are read.
func (f *follower[T]) inherit(from *follower[T]) {
	from.mu.Lock()
	objects, synced := maps.Clone(from.objects), from.synced
	from.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects, f.synced = objects, synced
}

// note keeps what went wrong, for those who wait.
func (f *follower[T]) note(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		f.trouble.Store(nil)
		return
	}
	f.trouble.Store(fleet.Unanswered(err))
	f.tell.failed()
}

// why adds to what is awaited the trouble there is with it.
func (f *follower[T]) why(what string) string {
	if trouble := f.trouble.Load(); trouble != nil {
		return fmt.Sprintf("%s (%s)", what, trouble)
	}
	return what
}

// get is the object of that name, as it was last seen.
func (f *follower[T]) get(name string) (T, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	object, found := f.objects[name]
	return object, found
}

// names returns those of all objects.
func (f *follower[T]) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.objects))
}

// isSynced is true once the first objects are there.
func (f *follower[T]) isSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced
}

// of reads an object that the hub sent. Its name has the namespace before it where that is not the same for all.
func (f *follower[T]) of(object any) (name string, u *unstructured.Unstructured) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		panic(fmt.Sprintf("a dynamic client reads unstructured objects, not %T", object))
	}
	if u.GetNamespace() == f.namespace && !f.qualified {
		return u.GetName(), u
	}
	return u.GetNamespace() + "/" + u.GetName(), u
}

var _ cache.ReflectorStore = (*follower[any])(nil)

// Add puts one object.
func (f *follower[T]) Add(object any) error { return f.Update(object) }

// Update puts one object in place of its former state.
func (f *follower[T]) Update(object any) error {
	name, u := f.of(object)
	kept := f.keep(u)
	f.mu.Lock()
	f.objects[name] = kept
	f.mu.Unlock()
	f.tell.changed(name)
	return nil
}

// Delete takes one object away.
func (f *follower[T]) Delete(object any) error {
	name, _ := f.of(object)
	f.mu.Lock()
	delete(f.objects, name)
	f.mu.Unlock()
	f.tell.changed(name)
	return nil
}

// Replace puts these objects in place of all.
func (f *follower[T]) Replace(list []any, _ string) error {
	now := make(map[string]T, len(list))
	for _, object := range list {
		name, u := f.of(object)
		now[name] = f.keep(u)
	}
	f.mu.Lock()
	before, first := f.objects, !f.synced
	f.objects, f.synced = now, true
	f.mu.Unlock()
	for name := range before {
		if _, stays := now[name]; !stays {
			f.tell.changed(name)
		}
	}
	for name := range now {
		f.tell.changed(name)
	}
	if first {
		f.tell.synced()
	}
	return nil
}

// Resync has nothing to do: what is here was told.
func (f *follower[T]) Resync() error { return nil }

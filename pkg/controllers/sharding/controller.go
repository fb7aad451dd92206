// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
)

// Reconciler is that of a controller whose objects may be divided.
type Reconciler interface {
	reconcile.Reconciler
	// Leave forgets these objects, none of which is being reconciled. What another replica needs to know of them is written before, in ctx;
	// if it has ended, it is too late for that.
	Leave(ctx context.Context, in func(client.ObjectKey) bool)
}

// Kind is what a controller reconciles.
type Kind struct {
	GroupVersionKind schema.GroupVersionKind
	Object           client.Object
	List             client.ObjectList
}

// Workers are those of a controller.
type Workers struct {
	// Parallel is how many there are.
	Parallel int
	// Timeout bounds a reconcile.
	Timeout time.Duration
	// Limiter says how long an object waits for the next one that somebody asks for before its time, or after an error.
	Limiter workqueue.TypedRateLimiter[reconcile.Request]
}

func (w Workers) options() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: w.Parallel,
		ReconciliationTimeout:   w.Timeout,
		RateLimiter:             w.Limiter,
		NewQueue:                newFairQueue,
		EnableWarmup:            new(true), // so that a new leader need not list all first
	}
}

// Complete has the manager run a controller: with shards in all replicas, and each on the objects of its own.
func (s *Shards) Complete(b *builder.Builder, w Workers, kind Kind, r Reconciler) error {
	o := w.options()
	if s == nil {
		return b.WithOptions(o).Complete(r)
	}
	o.NeedLeaderElection = new(false)
	c := &divided{Reconciler: r, shards: s, kind: kind}
	s.mu.Lock()
	s.controllers = append(s.controllers, c)
	s.mu.Unlock()
	return b.WithOptions(o).WatchesRawSource(source.Func(c.start)).Complete(c)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// divided is a reconciler for the objects of the shards that are worked on.
type divided struct {
	Reconciler
	shards *Shards
	kind   Kind

	mu    sync.Mutex
	queue queue // nil: the controller has not begun, and will find all objects in its queue
}

func (d *divided) start(_ context.Context, q queue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = q
	return nil
}

func (d *divided) begun() queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.queue
}

// enqueue queues objects, as what was queued of them before may have been dropped.
func (d *divided) enqueue(ctx context.Context, in func(client.ObjectKey) bool) {
	q := d.begun()
	if q == nil {
		return
	}
	list := d.kind.List.DeepCopyObject().(client.ObjectList)
	err := d.shards.Hub.List(ctx, list, client.UnsafeDisableDeepCopy)
	if err == nil {
		err = meta.EachListItem(list, func(item runtime.Object) error {
			if key := client.ObjectKeyFromObject(item.(client.Object)); in(key) {
				q.Add(reconcile.Request{NamespacedName: key})
			}
			return nil
		})
	}
	if err != nil && ctx.Err() == nil { // the cache fails only if it was not set up
		klog.FromContext(ctx).Error(err, "Could not queue the objects of a shard", "kind", d.kind.GroupVersionKind.Kind)
	}
}

// Reconcile reconciles the object if it is ours. Once it is, all objects of its shard are queued.
func (d *divided) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	w := d.shards.enter(request.NamespacedName)
	if w == nil {
		return reconcile.Result{}, nil
	}
	defer w.inProgress.Done()
	ctx, cancel := w.within(ctx)
	defer cancel()
	o := of{d, request.NamespacedName}
	if !w.isFresh(o) {
		if fresh, err := d.isFresh(ctx, request.NamespacedName); err != nil {
			return reconcile.Result{}, err
		} else if !fresh {
			return reconcile.Result{RequeueAfter: perobject.Soon}, nil
		}
		w.setFresh(o, true)
	}
	result, err := d.Reconciler.Reconcile(ctx, request)
	if err == nil && result.IsZero() { // it may be gone
		w.setFresh(o, false)
	}
	return result, err
}

// isFresh reports whether the cache knows the object as the hub does. Whoever worked on it before has written its status, perhaps just now.
func (d *divided) isFresh(ctx context.Context, key client.ObjectKey) (bool, error) {
	cached := d.kind.Object.DeepCopyObject().(client.Object)
	err := d.shards.Hub.Get(ctx, key, cached)
	if apierrors.IsNotFound(err) {
		return true, nil // what appears is queued
	}
	if err != nil {
		return false, err
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(d.kind.GroupVersionKind)
	if err := d.shards.Live.Get(ctx, key, live); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading which version of it the hub has: %w", err)
	}
	return live.ResourceVersion == cached.GetResourceVersion(), nil
}

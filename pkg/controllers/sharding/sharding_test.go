// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/fence"
	"github.com/fleetscale/fleetscale/pkg/shards"
)

// objects are what a cache, or the hub, knows: a version by name.
type objects struct {
	mu       sync.Mutex
	versions map[string]string
	reads    int
	fails    error
}

func (o *objects) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reads++
	version, known := o.versions[key.Name]
	if o.fails != nil {
		return o.fails
	}
	if !known {
		return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
	}
	into.SetResourceVersion(version)
	return nil
}

func (o *objects) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name := range o.versions {
		c := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		list.(*corev1.ConfigMapList).Items = append(list.(*corev1.ConfigMapList).Items, c)
	}
	return o.fails
}

func (o *objects) set(name, version string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.versions[name] = version
}

// reconciler notes what it is told.
type reconciler struct {
	mu     sync.Mutex
	did    []string
	ctx    context.Context // of the last reconcile
	result reconcile.Result
	hangs  bool // until its context ends
	blocks chan struct{}
}

func (r *reconciler) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.did = append(r.did, fmt.Sprintf(format, args...))
}

func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.note("%s", request.Name)
	r.mu.Lock()
	r.ctx = ctx
	r.mu.Unlock()
	if r.blocks != nil {
		<-r.blocks
	}
	if r.hangs {
		<-ctx.Done()
		r.note("%s is interrupted", request.Name)
	}
	return r.result, nil
}

func (r *reconciler) Leave(ctx context.Context, in func(client.ObjectKey) bool) {
	saves := "late"
	if ctx.Err() == nil {
		saves = "saved"
	}
	for _, name := range names {
		if in(client.ObjectKey{Namespace: "shop", Name: name}) {
			r.note("leave %s, %s", name, saves)
		}
	}
}

func (r *reconciler) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.did = nil }()
	return strings.Join(r.did, "; ")
}

// names are of two objects in different shards of two.
var names = []string{"a", "g"}

var shardOf = map[string]int{"a": shards.Of("shop", "a", 2), "g": shards.Of("shop", "g", 2)}

type world struct {
	cache, hub *objects
	reconciler *reconciler
	shards     *Shards
	divided    *divided
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if shardOf["a"] == shardOf["g"] {
		t.Fatal("both objects are in one shard")
	}
	w := &world{
		cache:      &objects{versions: map[string]string{"a": "1", "g": "1"}},
		hub:        &objects{versions: map[string]string{"a": "1", "g": "1"}},
		reconciler: &reconciler{result: reconcile.Result{RequeueAfter: time.Minute}},
	}
	w.shards = New(Options{Shards: 2, Hub: w.cache, Live: w.hub, Timeout: 30 * time.Second, Metrics: NewMetrics(prometheus.NewRegistry())})
	w.divided = &divided{Reconciler: w.reconciler, shards: w.shards, kind: Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{},
	}}
	w.shards.controllers = []*divided{w.divided}
	return w
}

func (w *world) reconcile(t *testing.T, name string) reconcile.Result {
	t.Helper()
	result, err := w.divided.Reconcile(t.Context(), request("shop/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func same[T comparable](t *testing.T, what string, want, got T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestOnlyObjectsOfHeldShardsAreReconciled(t *testing.T) {
	w := newWorld(t)
	same(t, "of rates, before", 0.5, w.shards.Fraction())
	same(t, "before", reconcile.Result{}, w.reconcile(t, "a"))
	w.shards.Begin(t.Context(), shardOf["a"])
	same(t, "ours", w.reconciler.result, w.reconcile(t, "a"))
	same(t, "another's", reconcile.Result{}, w.reconcile(t, "g"))
	same(t, "reconciled", "a", w.reconciler.told())
	held, all := w.shards.Part()
	same(t, "held", [2]int{1, 2}, [2]int{held, all})
	w.shards.End(shardOf["a"])
	same(t, "afterwards", reconcile.Result{}, w.reconcile(t, "a"))
	same(t, "left", "leave a, saved", w.reconciler.told())
	var none *Shards
	held, all = none.Part()
	same(t, "held by a leader", [2]int{1, 1}, [2]int{held, all})
	same(t, "of rates, by a leader", 1., none.Fraction())
}

// What was queued of a shard before it began may have been dropped.
func TestBeginQueuesTheObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.shards.Begin(t.Context(), shardOf["g"]) // the queue is filled when the controller begins
		synctest.Wait()
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		if err := w.divided.start(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		w.shards.Begin(t.Context(), shardOf["a"])
		synctest.Wait()
		same(t, "queued", 1, q.Len())
		item, _ := q.Get()
		same(t, "queued", request("shop/a"), item)
	})
}

// Whoever had the object may have written its status just now: a decision by an older one would be made twice.
func TestFirstAsTheHubKnowsIt(t *testing.T) {
	w := newWorld(t)
	w.shards.Begin(t.Context(), shardOf["a"])
	w.hub.set("a", "2")
	same(t, "the cache is behind", reconcile.Result{RequeueAfter: perobject.Soon}, w.reconcile(t, "a"))
	same(t, "reconciled", "", w.reconciler.told())
	w.cache.set("a", "2")
	w.reconcile(t, "a")
	w.hub.set("a", "3")
	w.reconcile(t, "a")
	same(t, "reconciled, and then as the cache has it", "a; a", w.reconciler.told())
	same(t, "reads of the hub", 2, w.hub.reads)

	w.reconciler.result = reconcile.Result{} // it is gone
	w.reconcile(t, "a")
	same(t, "of an object that came back, the cache is behind", reconcile.Result{RequeueAfter: perobject.Soon}, w.reconcile(t, "a"))

	w.shards.End(shardOf["a"])
	w.shards.Begin(t.Context(), shardOf["a"])
	same(t, "the next time, the cache is behind", reconcile.Result{RequeueAfter: perobject.Soon}, w.reconcile(t, "a"))
	for _, of := range []*objects{w.hub, w.cache} {
		of.fails = errors.New("it hangs")
		if _, err := w.divided.Reconcile(t.Context(), request("shop/a")); !errors.Is(err, of.fails) {
			t.Errorf("error %v, want %v", err, of.fails)
		}
	}
}

func TestEndWaitsForWhatIsInProgress(t *testing.T) {
	for name, c := range map[string]struct {
		lost, hangs bool
		takes       time.Duration
		want, how   string
	}{
		"it completes":          {takes: 10 * time.Second, want: "a; leave a, saved", how: "released"},
		"it does not":           {hangs: true, takes: 30 * time.Second, want: "a; a is interrupted; leave a, saved", how: "released"},
		"the Lease is lost now": {hangs: true, lost: true, takes: 0, want: "a; a is interrupted; leave a, late", how: "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				lease, lose := context.WithCancel(fence.With(t.Context(), func() error { return errors.New("lost") }))
				defer lose()
				w.shards.Begin(lease, shardOf["a"])
				w.reconciler.hangs = c.hangs
				w.reconciler.blocks = make(chan struct{})
				go func() { _, _ = w.divided.Reconcile(context.Background(), request("shop/a")) }()
				synctest.Wait()
				if fence.Of(w.reconciler.ctx)() == nil {
					t.Error("a reconcile has not the fence of its Lease")
				}
				if c.hangs {
					close(w.reconciler.blocks)
				} else {
					time.AfterFunc(c.takes, func() { close(w.reconciler.blocks) })
				}
				if c.lost {
					lose()
				}
				began := time.Now()
				w.shards.End(shardOf["a"])
				same(t, "it takes", c.takes, time.Since(began))
				same(t, "done", c.want, w.reconciler.told())
				same(t, "counted", 1, testutil.ToFloat64(w.shards.Metrics.ends.WithLabelValues(c.how)))
				same(t, "held", 0, testutil.ToFloat64(w.shards.Metrics.held))
			})
		})
	}
}

// The end of a shard concerns no object of another.
func TestShardsEndByThemselves(t *testing.T) {
	w := newWorld(t)
	w.shards.Begin(t.Context(), 0)
	w.shards.Begin(t.Context(), 1)
	w.shards.End(shardOf["g"])
	w.reconcile(t, "a")
	w.reconcile(t, "g")
	if got := strings.Split(w.reconciler.told(), "; "); !slices.Equal(got, []string{"leave g, saved", "a"}) {
		t.Errorf("did %q", got)
	}
}

// How many shards are held is told as it is, also where the one that ends last began to end first.
func TestHeldWhileSeveralEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.shards.Begin(t.Context(), 0)
		w.shards.Begin(t.Context(), 1)
		w.reconciler.blocks = make(chan struct{})
		go func() { _, _ = w.divided.Reconcile(t.Context(), request("shop/a")) }()
		synctest.Wait()
		go w.shards.End(shardOf["a"])
		synctest.Wait()
		same(t, "held while one ends", 1, testutil.ToFloat64(w.shards.Metrics.held))
		w.shards.End(shardOf["g"])
		close(w.reconciler.blocks)
		synctest.Wait()
		same(t, "held", 0, testutil.ToFloat64(w.shards.Metrics.held))
	})
}

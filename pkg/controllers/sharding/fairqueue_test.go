// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// request is that of an object, given as namespace/name.
func request(object string) reconcile.Request {
	namespace, name, _ := strings.Cut(object, "/")
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

func TestFewestInProgressFirst(t *testing.T) {
	for name, c := range map[string]struct {
		does, want string // does: +object is added, > one is taken, -object is done
	}{
		"one namespace":            {"+a/1 +a/2 +a/3 > > >", "a/1 a/2 a/3"},
		"turns":                    {"+a/1 +a/2 +a/3 +b/1 +c/1 +b/2 > > > > > >", "a/1 b/1 c/1 a/2 b/2 a/3"},
		"who has many waits":       {"+a/1 +a/2 +a/3 +a/4 > > +b/1 +b/2 > > > >", "a/1 a/2 b/1 b/2 a/3 a/4"},
		"what ends frees a worker": {"+a/1 +a/2 +a/3 > > +b/1 +b/2 > -b/1 > -b/2 >", "a/1 a/2 b/1 b/2 a/3"},
		"added again in progress":  {"+a/1 > +a/1 +b/1 > -a/1 >", "a/1 b/1 a/1"},
		"added twice":              {"+a/1 +a/1 +a/2 > >", "a/1 a/2"},
		"no namespace":             {"+/1 +a/1 +a/2 +/2 > > > >", "/1 a/1 /2 a/2"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newTurns("")
			defer q.ShutDown()
			var got []string
			for _, do := range strings.Fields(c.does) {
				switch do[0] {
				case '+':
					q.Add(request(do[1:]))
				case '-':
					q.Done(request(do[1:]))
				default:
					item, _ := q.Get()
					got = append(got, item.Namespace+"/"+item.Name)
				}
			}
			if want := strings.Fields(c.want); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if q.Len() != 0 {
				t.Errorf("%d are left", q.Len())
			}
		})
	}
}

// What has ended is forgotten, so that namespaces which come and go cost nothing.
func TestForgets(t *testing.T) {
	q := newTurns("")
	defer q.ShutDown()
	for _, of := range []string{"a/1", "a/2", "b/1"} {
		q.Add(request(of))
	}
	for range 3 {
		item, _ := q.Get()
		q.Done(item)
	}
	if len(q.turns.waiting)+len(q.turns.order)+len(q.turns.busy) != 0 {
		t.Errorf("it remembers %v, %v, %v", q.turns.waiting, q.turns.order, q.turns.busy)
	}
}

// Objects of one tenant that take seconds do not delay those of another, though they are more than there are workers.
func TestSlowTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock all sleeps are of
		q := newFairQueue("slow-tenant", workqueue.NewTypedItemFastSlowRateLimiter[reconcile.Request](0, 0, 0))
		takes := map[string]time.Duration{"slow": 2 * time.Second, "quick": 10 * time.Millisecond}
		reconciles := map[string]*atomic.Int32{"slow": {}, "quick": {}}
		add := func(namespace string, objects int) {
			for i := range objects {
				q.Add(request(fmt.Sprintf("%s/%d", namespace, i)))
			}
		}
		var workers sync.WaitGroup
		for range 5 {
			workers.Go(func() {
				for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
					time.Sleep(takes[item.Namespace])
					reconciles[item.Namespace].Add(1)
					q.AddAfter(item, time.Second)
					q.Done(item)
				}
			})
		}
		add("slow", 300)
		time.Sleep(time.Second)
		add("quick", 20)
		time.Sleep(4 * time.Second)
		if got := reconciles["quick"].Load(); got < 40 {
			t.Errorf("%d reconciles of 20 objects in 4 s, where each takes 10 ms, and is due every second", got)
		}
		if reconciles["slow"].Load() == 0 {
			t.Error("the other tenant gets nothing")
		}
		q.ShutDown()
		workers.Wait() // what is queued is still served
	})
}

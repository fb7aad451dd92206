// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// newFairQueue returns the queue of a controller, for [sigs.k8s.io/controller-runtime/pkg/controller.Options]. It shares the workers among
// namespaces: where there are more requests than workers, the next one is of the namespace that has the fewest in progress. So a tenant
// whose objects take long, or are many, waits for itself.
func newFairQueue(controller string, limiter workqueue.TypedRateLimiter[reconcile.Request]) queue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
		Name: controller,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{
			Name: controller, Queue: newTurns(controller),
		}),
	})
}

// fairQueue knows what is in progress, besides what waits.
type fairQueue struct {
	workqueue.TypedInterface[reconcile.Request]
	turns *turns
}

func newTurns(name string) *fairQueue {
	turns := &turns{waiting: map[string][]reconcile.Request{}, busy: map[string]int{}}
	return &fairQueue{
		TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: turns}),
		turns:          turns,
	}
}

// Done implements [workqueue.TypedInterface].
func (q *fairQueue) Done(item reconcile.Request) {
	q.turns.done(item.Namespace)
	q.TypedInterface.Done(item)
}

// turns are the requests that wait, each behind those of its namespace.
type turns struct {
	mu      sync.Mutex
	waiting map[string][]reconcile.Request // by namespace, none empty
	order   []string                       // the namespaces that wait, the one that was served last at the end
	busy    map[string]int                 // by namespace, how many are in progress
	len     int
}

var _ workqueue.Queue[reconcile.Request] = (*turns)(nil)

// Touch implements [workqueue.Queue]: who asks again keeps the place.
func (t *turns) Touch(reconcile.Request) {}

// Push implements [workqueue.Queue].
func (t *turns) Push(item reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := item.Namespace
	if len(t.waiting[of]) == 0 {
		t.order = append(t.order, of)
	}
	t.waiting[of] = append(t.waiting[of], item)
	t.len++
}

// Len implements [workqueue.Queue].
func (t *turns) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.len
}

// Pop implements [workqueue.Queue].
func (t *turns) Pop() reconcile.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := 0
	for i, of := range t.order {
		if t.busy[of] < t.busy[t.order[next]] {
			next = i
		}
	}
	of := t.order[next]
	item := t.waiting[of][0]
	t.order = append(t.order[:next], t.order[next+1:]...)
	if rest := t.waiting[of][1:]; len(rest) > 0 {
		t.waiting[of] = rest
		t.order = append(t.order, of)
	} else {
		delete(t.waiting, of)
	}
	t.busy[of]++
	t.len--
	return item
}

func (t *turns) done(of string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[of]--; t.busy[of] <= 0 {
		delete(t.busy, of)
	}
}

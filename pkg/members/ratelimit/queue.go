// SPDX-License-Identifier: Apache-2.0

package ratelimit

import "slices"

// queue has the requests of a class that wait. The namespaces take turns; within one, who came first goes first.
type queue struct {
	turns   []string // namespaces of which some wait, each once
	waiting map[string][]*waiter
}

// waiter is a request that waits.
type waiter struct {
	of        Class
	namespace string
	admitted  chan struct{} // closed when it may be sent
}

func (q *queue) push(w *waiter) {
	if q.waiting == nil {
		q.waiting = map[string][]*waiter{}
	}
	if len(q.waiting[w.namespace]) == 0 {
		q.turns = append(q.turns, w.namespace)
	}
	q.waiting[w.namespace] = append(q.waiting[w.namespace], w)
}

// pop returns who is next; there must be one.
func (q *queue) pop() *waiter {
	namespace := q.turns[0]
	w := q.waiting[namespace][0]
	q.turns = q.turns[1:]
	if q.keep(namespace, q.waiting[namespace][1:]) {
		q.turns = append(q.turns, namespace)
	}
	return w
}

// remove is false for one that is not there.
func (q *queue) remove(w *waiter) bool {
	of := q.waiting[w.namespace]
	at := slices.Index(of, w)
	if at < 0 {
		return false
	}
	if !q.keep(w.namespace, slices.Delete(of, at, at+1)) {
		turn := slices.Index(q.turns, w.namespace)
		q.turns = slices.Delete(q.turns, turn, turn+1)
	}
	return true
}

// keep is false when none of the namespace is left.
func (q *queue) keep(namespace string, waiting []*waiter) bool {
	if len(waiting) == 0 {
		delete(q.waiting, namespace)
		return false
	}
	q.waiting[namespace] = waiting
	return true
}

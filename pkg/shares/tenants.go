// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"container/heap"
	"container/list"
)

// A tenant holds entries, those that it used last at the back.
type tenant[K comparable] struct {
	name    string
	weight  int64
	entries list.List
	place   int // in the heap
}

// idleSince is when the entry was used that has not been used for the longest.
func (t *tenant[K]) idleSince() uint64 { return t.entries.Front().Value.(*entry[K]).used }

// tenants are a heap: first is who is to give something up. Of several that
// weigh the same that is who has not used something for the longest.
type tenants[K comparable] []*tenant[K]

var _ heap.Interface = (*tenants[string])(nil)

func (h tenants[K]) Len() int { return len(h) }

func (h tenants[K]) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.weight != b.weight {
		return a.weight > b.weight
	}
	return a.idleSince() < b.idleSince()
}

func (h tenants[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is for package heap.
func (h *tenants[K]) Push(t any) {
	t.(*tenant[K]).place = len(*h)
	*h = append(*h, t.(*tenant[K]))
}

// Pop is for package heap.
func (h *tenants[K]) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

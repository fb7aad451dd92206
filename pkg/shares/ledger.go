// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"container/heap"
	"container/list"
)

// A Ledger knows who holds what. After each call the weights of all entries
// together are within the limit, and those of each tenant within its own.
//
// The fair share of a tenant is the limit divided by the number of tenants that
// hold something. What others put never has an entry given up of a tenant whose
// entries weigh no more than that.
type Ledger[K comparable] struct {
	limit, each int64
	weight      int64
	uses        uint64 // so far; the last one's number
	entries     map[K]*list.Element
	tenants     map[string]*tenant[K]
	heaviest    tenants[K]
}

// entry is one thing that a tenant holds.
type entry[K comparable] struct {
	key    K
	tenant *tenant[K]
	weight int64
	used   uint64
}

// NewLedger returns an empty ledger. Each bounds what one tenant holds, even where
// nobody else holds anything; 0 stands for no such bound.
func NewLedger[K comparable](limit, each int64) *Ledger[K] {
	if each == 0 {
		each = limit
	}
	return &Ledger[K]{limit: limit, each: min(each, limit), entries: map[K]*list.Element{}, tenants: map[string]*tenant[K]{}}
}

// Put enters what a tenant holds under a key, which is its alone, or its new weight, which must be
// above 0. It returns the keys that are to be given up, which are no longer in
// the ledger; the key itself may be among them. A key that is new counts as used now.
func (l *Ledger[K]) Put(name string, key K, weight int64) (givenUp []K) {
	element := l.entries[key]
	if element == nil {
		element = l.enter(name, key)
	}
	e := element.Value.(*entry[K])
	l.weigh(e, weight)
	if weight > l.each { // all the others would not make room for it
		return []K{l.remove(element)}
	}
	for e.tenant.weight > l.each {
		givenUp = append(givenUp, l.remove(e.tenant.entries.Front()))
	}
	for l.weight > l.limit {
		givenUp = append(givenUp, l.remove(l.heaviest[0].entries.Front()))
	}
	return givenUp
}

// Use notes that what is held under the key is used, if it is known.
func (l *Ledger[K]) Use(key K) {
	if element := l.entries[key]; element != nil {
		e := element.Value.(*entry[K])
		l.uses++
		e.used = l.uses
		e.tenant.entries.MoveToBack(element)
		l.settle(e.tenant)
	}
}

// Remove forgets a key, if it is known.
func (l *Ledger[K]) Remove(key K) {
	if element := l.entries[key]; element != nil {
		l.remove(element)
	}
}

// Weight is that of all entries together.
func (l *Ledger[K]) Weight() int64 { return l.weight }

func (l *Ledger[K]) enter(name string, key K) *list.Element {
	t := l.tenants[name]
	if t == nil {
		t = &tenant[K]{name: name}
		l.tenants[name] = t
	}
	l.uses++
	element := t.entries.PushBack(&entry[K]{key: key, tenant: t, used: l.uses})
	l.entries[key] = element
	if t.entries.Len() == 1 {
		heap.Push(&l.heaviest, t)
	}
	return element
}

func (l *Ledger[K]) weigh(e *entry[K], weight int64) {
	l.weight += weight - e.weight
	e.tenant.weight += weight - e.weight
	e.weight = weight
	l.settle(e.tenant)
}

func (l *Ledger[K]) remove(element *list.Element) K {
	e := element.Value.(*entry[K])
	l.weight -= e.weight
	e.tenant.weight -= e.weight
	e.tenant.entries.Remove(element)
	delete(l.entries, e.key)
	l.settle(e.tenant)
	return e.key
}

// settle has a tenant take its place among the others again, or leave them if it holds nothing.
func (l *Ledger[K]) settle(t *tenant[K]) {
	if t.entries.Len() > 0 {
		heap.Fix(&l.heaviest, t.place)
		return
	}
	heap.Remove(&l.heaviest, t.place)
	delete(l.tenants, t.name)
}

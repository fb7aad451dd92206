// SPDX-License-Identifier: Apache-2.0

// Package perobject keeps what a controller knows of each object from one reconcile to the next (Store), and what its metrics
// show of them (Shown), and says when an object is due again (Again). It is used by all controllers: federatedhpa, cronfederatedhpa and
// multidim.
package perobject

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Store holds one T for each object. It is as large as the number of objects, provided each is forgotten once it is gone.
// The zero value is empty and ready to use.
type Store[T any] struct {
	// Dropped, if it is set, is told what is no longer known: as it was forgotten, or another object has the name.
	Dropped func(client.ObjectKey, *T)

	mu    sync.Mutex
	byKey map[client.ObjectKey]*entry[T]
}

type entry[T any] struct {
	uid   types.UID
	value T
}

// Of returns what is known of an object, to be read and written by its reconcile alone: a workqueue never hands out one
// key twice at a time. An object that is new, or another one of the same name, begins with the zero value.
func (s *Store[T]) Of(object client.Object) *T {
	key := client.ObjectKeyFromObject(object)
	known := s.find(key)
	if known == nil || known.uid != object.GetUID() {
		known = &entry[T]{uid: object.GetUID()}
		s.replace(key, known)
	}
	return &known.value
}

// Find returns what is known under the name, or nil.
func (s *Store[T]) Find(key client.ObjectKey) *T {
	if known := s.find(key); known != nil {
		return &known.value
	}
	return nil
}

// Forget removes what is known of an object that is gone.
func (s *Store[T]) Forget(key client.ObjectKey) { s.replace(key, nil) }

// ForgetAll is Forget for all of these.
func (s *Store[T]) ForgetAll(in func(client.ObjectKey) bool) {
	for _, key := range s.keys() {
		if in(key) {
			s.Forget(key)
		}
	}
}

func (s *Store[T]) keys() []client.ObjectKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.byKey))
}

func (s *Store[T]) find(key client.ObjectKey) *entry[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[key]
}

func (s *Store[T]) replace(key client.ObjectKey, by *entry[T]) {
	if former := s.exchange(key, by); former != nil && s.Dropped != nil {
		s.Dropped(key, &former.value)
	}
}

func (s *Store[T]) exchange(key client.ObjectKey, by *entry[T]) (former *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	former = s.byKey[key]
	switch {
	case by == nil:
		delete(s.byKey, key)
	case s.byKey == nil:
		s.byKey = map[client.ObjectKey]*entry[T]{key: by}
	default:
		s.byKey[key] = by
	}
	return former
}

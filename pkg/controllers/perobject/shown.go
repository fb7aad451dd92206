// SPDX-License-Identifier: Apache-2.0

package perobject

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Shown holds what metrics show of objects, which may be of some only, so that a large fleet does not flood who scrapes. Unlike what a
// [Store] holds it is read at any time: a T is not changed once it is set. The zero value is empty and ready to use.
type Shown[T any] struct {
	mu      sync.Mutex
	of      map[client.ObjectKey]T
	without map[client.ObjectKey]struct{}
}

// Admit reports whether something is shown of an object, as it is from when there was room for it among so many. Until it is
// set that is the zero value.
func (s *Shown[T]) Admit(key client.ObjectKey, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, has := s.of[key]; has {
		return true
	}
	if len(s.of) >= most {
		if s.without == nil {
			s.without = map[client.ObjectKey]struct{}{}
		}
		s.without[key] = struct{}{}
		return false
	}
	var zero T
	s.set(key, zero)
	return true
}

// Set replaces what is shown of an object.
func (s *Shown[T]) Set(key client.ObjectKey, value T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(key, value)
}

func (s *Shown[T]) set(key client.ObjectKey, value T) {
	if s.of == nil {
		s.of = map[client.ObjectKey]T{}
	}
	s.of[key] = value
	delete(s.without, key)
}

// Forget has nothing shown of an object.
func (s *Shown[T]) Forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, key)
	delete(s.without, key)
}

// Each visits what is shown, in any order, and returns of how many objects nothing is, for want of room.
func (s *Shown[T]) Each(visit func(client.ObjectKey, T)) (without int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, value := range s.of {
		visit(key, value)
	}
	return len(s.without)
}

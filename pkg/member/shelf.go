// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// shelf is where a reflector puts the objects of one namespace.
type shelf struct {
	keep func(any) metav1.Object
	tell following

	mu      sync.Mutex
	synced  bool
	objects map[string]metav1.Object // by name
}

var _ cache.ReflectorStore = (*shelf)(nil)

// get is the object of that name, as it was last seen.
func (s *shelf) get(name string) (metav1.Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, found := s.objects[name]
	return object, found
}

// names are those of all objects.
func (s *shelf) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.objects))
}

// isSynced is true once the first objects are there.
func (s *shelf) isSynced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced
}

// Add puts one object.
func (s *shelf) Add(object any) error { return s.Update(object) }

// Update puts one object in place of its former state.
func (s *shelf) Update(object any) error {
	kept := s.keep(object)
	s.mu.Lock()
	s.objects[kept.GetName()] = kept
	s.mu.Unlock()
	s.tell.changed(kept.GetName())
	return nil
}

// Delete takes one object away.
func (s *shelf) Delete(object any) error {
	m, err := meta.Accessor(object)
	if err != nil {
		return fmt.Errorf("reading a deleted object: %w", err)
	}
	s.mu.Lock()
	delete(s.objects, m.GetName())
	s.mu.Unlock()
	s.tell.changed(m.GetName())
	return nil
}

// Replace puts these objects in place of all.
func (s *shelf) Replace(list []any, _ string) error {
	now := make(map[string]metav1.Object, len(list))
	for _, object := range list {
		kept := s.keep(object)
		now[kept.GetName()] = kept
	}
	s.mu.Lock()
	before, first := s.objects, !s.synced
	s.objects, s.synced = now, true
	s.mu.Unlock()
	for name := range before {
		if now[name] == nil {
			s.tell.changed(name)
		}
	}
	for name := range now {
		s.tell.changed(name)
	}
	if first {
		s.tell.synced()
	}
	return nil
}

// Resync has nothing to do: what is here was told.
func (s *shelf) Resync() error { return nil }

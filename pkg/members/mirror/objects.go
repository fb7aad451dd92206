// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"maps"
	"slices"
)

// shelves hold the objects of a feed, those of each namespace in order of their names.
type shelves[T Object] struct {
	of    map[string]*shelf[T]
	whole []T // all of them, in order; nil: to be put together
}

// shelf is replaced, and not written to, while an answer holds its objects.
type shelf[T Object] struct {
	objects []T
	shared  bool
}

// shelve puts objects away, which may be in any order; of those with one name, one, and the others are returned. The slice
// is not held on to.
func shelve[T Object](objects []T) (s shelves[T], repeated []T) {
	slices.SortFunc(objects, inOrder[T]) // members give them in this order already
	objects = slices.CompactFunc(objects, func(o, next T) bool {
		same := o.Key() == next.Key()
		if same {
			repeated = append(repeated, next)
		}
		return same
	})
	s = shelves[T]{of: map[string]*shelf[T]{}}
	for len(objects) > 0 {
		namespace := objects[0].Key().Namespace
		end := slices.IndexFunc(objects, func(o T) bool { return o.Key().Namespace != namespace })
		if end < 0 {
			end = len(objects)
		}
		s.of[namespace] = &shelf[T]{objects: slices.Clone(objects[:end])}
		objects = objects[end:]
	}
	return s, repeated
}

// lend returns the objects of a namespace, or of all, which are not written to from then on.
func (s *shelves[T]) lend(namespace string) []T {
	if namespace == all {
		return s.lendAll()
	}
	one := s.of[namespace]
	if one == nil {
		return nil
	}
	one.shared = true
	return one.objects
}

func (s *shelves[T]) lendAll() []T {
	if s.whole == nil {
		for _, namespace := range slices.Sorted(maps.Keys(s.of)) {
			s.whole = append(s.whole, s.of[namespace].objects...)
		}
	}
	return s.whole
}

// put returns the object in whose place it comes, if there is one.
func (s *shelves[T]) put(object T) (former []T) {
	key := object.Key()
	one := s.of[key.Namespace]
	if one == nil {
		one = &shelf[T]{}
		s.of[key.Namespace] = one
	}
	one.own()
	at, found := slices.BinarySearchFunc(one.objects, key, compareTo[T])
	if found {
		former = []T{one.objects[at]}
		one.objects[at] = object
	} else {
		one.objects = slices.Insert(one.objects, at, object)
	}
	s.whole = nil
	return former
}

// remove returns the object, if there is one.
func (s *shelves[T]) remove(key Key) (former []T) {
	one := s.of[key.Namespace]
	if one == nil {
		return nil
	}
	at, found := slices.BinarySearchFunc(one.objects, key, compareTo[T])
	if !found {
		return nil
	}
	former = []T{one.objects[at]}
	one.own()
	one.objects = slices.Delete(one.objects, at, at+1)
	if len(one.objects) == 0 {
		delete(s.of, key.Namespace)
	}
	s.whole = nil
	return former
}

// own makes the slice one that no answer holds.
func (s *shelf[T]) own() {
	if s.shared {
		s.objects, s.shared = slices.Clone(s.objects), false
	}
}

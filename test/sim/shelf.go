// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is what an API server stores.
type Object interface {
	runtime.Object
	metav1.Object
}

type object = Object

// entry is one object at one revision. It is never written to, so a log may keep it.
type entry interface {
	key() key
	revision() int64
	labels() labels.Set
	fields() fields.Set
	// object is made again each time.
	object() object
}

// key of an object; the namespace is empty for those that are in none.
type key struct {
	namespace, name string
}

// shelf is the objects of one resource, by namespace and in order of their names.
type shelf map[string][]entry

func (s shelf) at(k key) (i int, found bool) {
	return slices.BinarySearchFunc(s[k.namespace], k, func(e entry, k key) int { return cmp.Compare(e.key().name, k.name) })
}

func (s shelf) find(k key) (entry, bool) {
	i, found := s.at(k)
	if !found {
		return nil, false
	}
	return s[k.namespace][i], true
}

func (s shelf) put(e entry) {
	k := e.key()
	i, found := s.at(k)
	if found {
		s[k.namespace][i] = e
		return
	}
	s[k.namespace] = slices.Insert(s[k.namespace], i, e)
}

// add puts many of one namespace that are not there yet.
func (s shelf) add(namespace string, entries []entry) {
	all := append(s[namespace], entries...)
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key().name, b.key().name) })
	s[namespace] = all
}

func (s shelf) remove(k key) {
	if i, found := s.at(k); found {
		s[k.namespace] = slices.Delete(s[k.namespace], i, i+1)
	}
}

// after gives the entries of a namespace, or of all if it is empty, that come after k.
func (s shelf) after(namespace string, k key) iter.Seq[entry] {
	namespaces := []string{namespace}
	if namespace == "" {
		namespaces = slices.Sorted(maps.Keys(s))
	}
	return func(yield func(entry) bool) {
		for _, namespace := range namespaces {
			if namespace < k.namespace {
				continue
			}
			from := 0
			if namespace == k.namespace {
				i, found := s.at(k)
				if from = i; found {
					from++
				}
			}
			for _, e := range s[namespace][from:] {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// stored is an entry of an object that is kept as it is.
type stored struct {
	of  object
	rev int64
}

func (s stored) key() key           { return key{s.of.GetNamespace(), s.of.GetName()} }
func (s stored) revision() int64    { return s.rev }
func (s stored) labels() labels.Set { return s.of.GetLabels() }
func (s stored) object() object     { return s.of.DeepCopyObject().(object) } // encoders write to what they encode, for a moment
func (s stored) fields() fields.Set {
	return fields.Set{"metadata.name": s.of.GetName(), "metadata.namespace": s.of.GetNamespace()}
}

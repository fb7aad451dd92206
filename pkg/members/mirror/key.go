// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Key tells one object of a cluster from all others of its kind.
type Key struct{ Namespace, Name string }

// Object is what is kept of an object. Its key never changes, and it is not
// written to once it is kept: it is replaced.
type Object interface {
	Key() Key
	// Bytes estimates what it takes in memory, but for what it shares.
	Bytes() int64
}

// Sharing is an Object with a part that others may have as well.
type Sharing interface {
	Object
	// Shared is comparable: the same for all that share it, and counts once.
	Shared() Shared
}

// Shared is what objects share.
type Shared interface{ Bytes() int64 }

func keyOf(o metav1.Object) Key { return Key{o.GetNamespace(), o.GetName()} }

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name))
}

func compareTo[T Object](object T, key Key) int { return object.Key().compare(key) }

func inOrder[T Object](a, b T) int { return a.Key().compare(b.Key()) }

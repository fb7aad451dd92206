// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Answer is what is known of one member's objects in one namespace.
type Answer[T Object] struct {
	// Objects are in order of namespace and name. They and the slice are shared: do not write to them.
	Objects []T
	// Known is false when Objects say nothing: they were never listed, or so long ago that it means nothing.
	Known bool
	// Silence is why the member's objects cannot be seen now; then Objects are as they were last. Nil: they are seen.
	Silence *fleet.Silence
	// AsOf is the time up to which Objects are right; zero if not Known.
	AsOf time.Time
}

// Find returns the object of that name.
func (a Answer[T]) Find(key Key) (object T, found bool) {
	at, found := slices.BinarySearchFunc(a.Objects, key, compareTo[T])
	if !found {
		return object, false
	}
	return a.Objects[at], true
}

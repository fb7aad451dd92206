// SPDX-License-Identifier: Apache-2.0

package mirror

import "github.com/fleetscale/fleetscale/pkg/members/connection"

const (
	// placeBytes is what it takes to find an object.
	placeBytes = 16
	// sharedBytes is what it takes to count who shares something.
	sharedBytes = 64
)

// holding counts what the objects of a list, or of a feed, take in memory.
type holding[T Object] struct {
	kept   *connection.Kept
	shared map[Shared]int // by how many objects
}

func newHolding[T Object](reading *connection.Reading, giveUp func()) *holding[T] {
	return &holding[T]{kept: reading.Keep(giveUp), shared: map[Shared]int{}}
}

// add counts objects that come. After an error none of all those that were counted may be kept.
func (h *holding[T]) add(objects ...T) error {
	var bytes int64
	for _, o := range objects {
		bytes += h.bytes(o, 1)
	}
	return h.kept.Add(bytes)
}

// replace counts one that comes in place of others, or none.
func (h *holding[T]) replace(former []T, object T) error {
	bytes := h.bytes(object, 1)
	for _, o := range former {
		bytes -= h.bytes(o, -1)
	}
	return h.kept.Add(bytes)
}

// drop counts objects that go.
func (h *holding[T]) drop(objects ...T) {
	var bytes int64
	for _, o := range objects {
		bytes += h.bytes(o, -1)
	}
	_ = h.kept.Add(-bytes) // less is never refused
}

// bytes is what comes with one object more, or goes with one less.
func (h *holding[T]) bytes(o T, more int) int64 {
	bytes := o.Bytes() + placeBytes
	sharing, shares := any(o).(Sharing)
	if !shares {
		return bytes
	}
	shared := sharing.Shared()
	before := h.shared[shared]
	if after := before + more; after > 0 {
		h.shared[shared] = after
	} else {
		delete(h.shared, shared)
	}
	if min(before, before+more) == 0 {
		bytes += shared.Bytes() + sharedBytes
	}
	return bytes
}

// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Event is an Event for the owner of an object.
type Event = replicas.Event

// Events are those of one reconcile, one for each reason: several of one object would be taken for one that repeats, and
// only the first would be told.
type Events []Event

// Add adds an Event, or its message to that of the same reason.
func (all *Events) Add(kind, reason, message string) {
	i := slices.IndexFunc(*all, func(e Event) bool { return e.Type == kind && e.Reason == reason })
	if i < 0 {
		*all = append(*all, Event{Type: kind, Reason: reason, Message: message})
		return
	}
	(*all)[i].Message += "; " + message
}

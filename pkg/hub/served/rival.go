// SPDX-License-Identifier: Apache-2.0

package served

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// rivalFor is how long after its last write another controller is taken to be at
// work. One that is writes again when we do.
const rivalFor = 5 * time.Minute

// Rivals detects other controllers that write the objects of one of ours.
type Rivals struct {
	ours  string
	clock clock.PassiveClock
	began time.Time
}

// NewRivals considers writes from now on. ours is the field manager of our own
// writes of status.
func NewRivals(ours string, clock clock.PassiveClock) *Rivals {
	return &Rivals{ours: ours, clock: clock, began: clock.Now()}
}

// Of returns why an object should not be reconciled: another controller wrote its status
// lately, and so would undo what we do. Nil: none did.
func (r *Rivals) Of(object metav1.Object) error {
	since := r.clock.Now().Add(-rivalFor)
	if since.Before(r.began) {
		since = r.began
	}
	if manager, found := Rival(object.GetManagedFields(), r.ours, since); found {
		return fmt.Errorf("%q writes the status too, and nothing is reconciled while it does: switch one of the two off", manager)
	}
	return nil
}

// Rival returns who else wrote the status of an object since a time: the field
// manager of the last such write. ours is the field manager of our own writes,
// which is our user agent up to its first slash.
//
// Writes of before since do not count: who made them may have been stopped in
// favour of us. The times are the hub's, in whole seconds, so since is best
// given by the hub's clock too. A write stays in the object's memory until
// another takes its fields: once a rival was found, only a later since lets go
// of it. Of several in one second the lesser name is returned.
func Rival(fields []metav1.ManagedFieldsEntry, ours string, since time.Time) (manager string, found bool) {
	last := since
	for _, f := range fields {
		if f.Subresource != "status" || f.Manager == ours || f.Time == nil {
			continue
		}
		at := f.Time.Time
		if at.After(last) || found && at.Equal(last) && f.Manager < manager {
			manager, found, last = f.Manager, true, at
		}
	}
	return manager, found
}

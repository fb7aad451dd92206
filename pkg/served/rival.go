// SPDX-License-Identifier: Apache-2.0

package served

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

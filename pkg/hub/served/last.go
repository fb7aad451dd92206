// SPDX-License-Identifier: Apache-2.0

package served

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WroteLast reports whether nobody wrote the status of an object after us; ours is
// the field manager of our own writes. A status that then lacks what we always
// write was cut by the hub: its schema is no longer ours, and the spec may
// lack something too. That shows at once, and not only at the next check of the [Checker].
func WroteLast(fields []metav1.ManagedFieldsEntry, ours string) bool {
	var own, others time.Time
	for _, f := range fields {
		switch {
		case f.Subresource != "status" || f.Time == nil:
		case f.Manager == ours:
			own = later(own, f.Time.Time)
		default:
			others = later(others, f.Time.Time)
		}
	}
	return own.After(others)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

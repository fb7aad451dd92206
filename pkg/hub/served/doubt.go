// SPDX-License-Identifier: Apache-2.0

package served

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// doubtFor is how long an object is doubted: longer than the interval at which the
// hub's schema is checked, which decides.
const doubtFor = time.Minute

// Doubt is about an object that was pruned, or is cut: the hub may do that to it for
// a schema that is not ours. It then asks for something else than its owner does,
// and to write its status would make the loss final. After a while, in which the
// schema was ours, it is as it is stored. The zero value: there is none.
type Doubt struct{ since time.Time }

// About reports whether an object should not be reconciled for now: it is not as
// we left it, and nobody edited it. lost is what [Cut] says of it, and ours the
// field manager of our own writes of status.
func (d *Doubt) About(object metav1.Object, lost []string, ours string, now time.Time) bool {
	switch {
	case len(lost) == 0 && !Pruned(object, ours):
		*d = Doubt{}
		return false
	case d.since.IsZero():
		d.since = now
	}
	return now.Sub(d.since) < doubtFor
}

// Pruned reports whether the status of an object lacks what we wrote there, and
// nobody since.
func Pruned(object metav1.Object, ours string) bool {
	lacks := false
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		lacks = o.Status.Summary == nil
	case *v1alpha1.CronFederatedHPA:
		lacks = o.Status.Summary == nil
	}
	return lacks && WroteLast(object.GetManagedFields(), ours)
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

// doubtFor is how long an object is doubted: longer than the interval at which the hub's schema is checked, which decides.
const doubtFor = time.Minute

// doubt is about an object whose status lacks what we wrote there, and nobody since, or that is cut as [served.Cut] says: the
// hub may do that to it for a schema that is not ours. It then asks for something else than its owner does, and to write its
// status would make the loss final. After a while, in which the schema was ours, it is as it is stored.
type doubt struct{ since time.Time }

// about reports whether an object should not be reconciled for now.
func (d *doubt) about(object *v1alpha1.FederatedHPA, now time.Time) bool {
	pruned := object.Status.Summary == nil && served.WroteLast(object.ManagedFields, record.FieldManager)
	switch {
	case !pruned && len(served.Cut(object)) == 0:
		*d = doubt{}
		return false
	case d.since.IsZero():
		d.since = now
	}
	return now.Sub(d.since) < doubtFor
}

// undoubt resets the doubt: what is read while reconciling is suspended may be cut.
func (r *Reconciler) undoubt(key client.ObjectKey) {
	if known := r.memories.Find(key); known != nil {
		known.doubt = doubt{}
	}
}

// deferred reports whether the cached object is stale, or was cut by the hub, and will be refreshed shortly.
func (r *Reconciler) deferred(object *v1alpha1.FederatedHPA, known *memory) bool {
	if known.doubt.about(object, r.Clock.Now()) {
		return true
	}
	stale := r.Recorder.Stale(object)
	if stale {
		r.Central.Metrics.Skipped()
	}
	return stale
}

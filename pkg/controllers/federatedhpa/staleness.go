// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

// undoubt resets the doubt: what is read while reconciling is suspended may be cut.
func (r *Reconciler) undoubt(key client.ObjectKey) {
	if known := r.memories.Find(key); known != nil {
		known.doubt = served.Doubt{}
	}
}

// deferred reports whether the cached object is stale, or was cut by the hub, and will be refreshed shortly.
func (r *Reconciler) deferred(object *v1alpha1.FederatedHPA, lost []string, known *memory) bool {
	if known.doubt.About(object, lost, record.FieldManager, r.Clock.Now()) {
		return true
	}
	stale := r.Recorder.Stale(object)
	if stale {
		r.Central.Metrics.Skipped()
	}
	return stale
}

// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
)

// Name is the controller's, in its logs, metrics and Events.
const Name = "multidimpodautoscaler"

// SetUp adds the controller to the manager, which runs it while it is the leader, or has shards. Each object is reconciled on creation, on
// changes of its spec or of the spec of its FederatedHPA, and otherwise one period after the last reconcile; parallel is the
// number of workers, and timeout bounds a reconcile.
func (r *Reconciler) SetUp(manager ctrl.Manager, parallel int, timeout time.Duration) error {
	b := ctrl.NewControllerManagedBy(manager).
		Named(Name).
		For(&v1alpha1.MultidimPodAutoscaler{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&v1alpha1.FederatedHPA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	kind := sharding.Kind{
		GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.MultidimPodAutoscalerKind),
		Object:           &v1alpha1.MultidimPodAutoscaler{}, List: &v1alpha1.MultidimPodAutoscalerList{},
	}
	return r.Shards.Complete(b, sharding.Workers{
		Parallel: parallel, Timeout: timeout,
		Limiter: workqueue.NewTypedItemFastSlowRateLimiter[reconcile.Request](r.Period, r.Period, 0),
	}, kind, r)
}

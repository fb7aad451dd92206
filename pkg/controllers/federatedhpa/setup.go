// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/fairqueue"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// Name is the controller's, in its logs, metrics and Events.
const Name = "federatedhpa"

// AddToScheme adds the kinds that the controller reads to scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := errors.Join(v1alpha1.AddToScheme(scheme), placement.AddToScheme(scheme)); err != nil {
		return err
	}
	return autoscalingv2.AddToScheme(scheme)
}

// SetUp adds the controller to the manager, which runs it while it is the leader. Each object is reconciled on creation,
// on changes of its spec, and otherwise one sync period after the last reconcile, whatever its result; parallel is the
// number of workers, and timeout bounds a reconcile.
func (r *Reconciler) SetUp(manager ctrl.Manager, parallel int, timeout time.Duration) error {
	return ctrl.NewControllerManagedBy(manager).
		Named(Name).
		For(&v1alpha1.FederatedHPA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: parallel,
			NewQueue:                fairqueue.New,
			ReconciliationTimeout:   timeout,
			EnableWarmup:            new(true), // so that a new leader need not list all first
			RateLimiter:             workqueue.NewTypedItemFastSlowRateLimiter[reconcile.Request](r.SyncPeriod, r.SyncPeriod, 0),
		}).
		Complete(r)
}

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
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// Name is the controller's, in its logs, metrics and Events.
const Name = "federatedhpa"

// AddToScheme adds the kinds that the controller reads to scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(v1alpha1.AddToScheme(scheme), placement.AddToScheme(scheme), autoscalingv2.AddToScheme(scheme))
}

// SetUp adds the controller to the manager, which runs it while it is the leader, or has shards. Each object is reconciled on creation,
// on changes of its spec, and otherwise one sync period after the last reconcile, whatever its result; parallel is the
// number of workers, and timeout bounds a reconcile.
func (r *Reconciler) SetUp(manager ctrl.Manager, parallel int, timeout time.Duration) error {
	b := ctrl.NewControllerManagedBy(manager).
		Named(Name).
		For(&v1alpha1.FederatedHPA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	kind := sharding.Kind{
		GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.FederatedHPAKind),
		Object:           &v1alpha1.FederatedHPA{}, List: &v1alpha1.FederatedHPAList{},
	}
	return r.Shards.Complete(b, sharding.Workers{
		Parallel: parallel, Timeout: timeout,
		Limiter: workqueue.NewTypedItemFastSlowRateLimiter[reconcile.Request](r.SyncPeriod, r.SyncPeriod, 0),
	}, kind, r)
}

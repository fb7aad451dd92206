// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/placement"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// Name is the controller's, in its logs, metrics and Events.
const Name = "federatedhpa"

// AddToScheme makes scheme know the kinds that the controller reads.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := errors.Join(v1alpha1.AddToScheme(scheme), placement.AddToScheme(scheme)); err != nil {
		return err
	}
	return autoscalingv2.AddToScheme(scheme)
}

// SetUp has the manager run the controller while it is the leader. Of the objects, parallel many are looked at at a time;
// timeout bounds a look. synced says whether the hub has told all. It is an error if the hub does not serve a kind.
func (r *Reconciler) SetUp(ctx context.Context, manager ctrl.Manager, parallel int, timeout time.Duration) (synced func() bool, err error) {
	if err := manager.GetFieldIndexer().IndexField(ctx, &autoscalingv2.HorizontalPodAutoscaler{}, byTarget, targetKeys); err != nil {
		return nil, fmt.Errorf("watching HorizontalPodAutoscalers: %w", err)
	}
	var informers []cache.Informer
	for _, kind := range []client.Object{&v1alpha1.FederatedHPA{}, &autoscalingv2.HorizontalPodAutoscaler{}} {
		informer, err := manager.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		informers = append(informers, informer)
	}
	synced = func() bool {
		return !slices.ContainsFunc(informers, func(i cache.Informer) bool { return !i.HasSynced() })
	}
	return synced, r.register(manager, parallel, timeout)
}

// register has each object looked at when it is new or its spec changed, and otherwise one sync period after the last
// look, whatever came of it.
func (r *Reconciler) register(manager ctrl.Manager, parallel int, timeout time.Duration) error {
	return ctrl.NewControllerManagedBy(manager).
		Named(Name).
		For(&v1alpha1.FederatedHPA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: parallel,
			ReconciliationTimeout:   timeout,
			EnableWarmup:            new(true), // so that a new leader need not list all first
			RateLimiter:             workqueue.NewTypedItemFastSlowRateLimiter[reconcile.Request](r.SyncPeriod, r.SyncPeriod, 0),
		}).
		Complete(r)
}

func targetKeys(object client.Object) []string {
	return []string{workload.Key(object.(*autoscalingv2.HorizontalPodAutoscaler).Spec.ScaleTargetRef)}
}

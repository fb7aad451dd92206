// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
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
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Name is the controller's, in its logs, metrics and Events.
const Name = "cronfederatedhpa"

// AddToScheme makes scheme know the kinds that the controller reads.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	return autoscalingv2.AddToScheme(scheme)
}

// SetUp has the manager run the controller while it is the leader. Of the
// objects, parallel many are worked on at a time; timeout bounds the work on
// one. synced says whether the hub has told all. It is an error if the hub does
// not serve a kind.
func (r *Reconciler) SetUp(ctx context.Context, manager ctrl.Manager, parallel int, timeout time.Duration) (synced func() bool, err error) {
	var informers []cache.Informer
	for _, kind := range []client.Object{&v1alpha1.CronFederatedHPA{}, &v1alpha1.FederatedHPA{}, &autoscalingv2.HorizontalPodAutoscaler{}} {
		if err := manager.GetFieldIndexer().IndexField(ctx, kind, byTarget, targetNames); err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
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

// register says when which object is looked at.
func (r *Reconciler) register(manager ctrl.Manager, parallel int, timeout time.Duration) error {
	concerned := handler.EnqueueRequestsFromMapFunc(r.concerned)
	return ctrl.NewControllerManagedBy(manager).
		Named(Name).
		For(&v1alpha1.CronFederatedHPA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.FederatedHPA{}, concerned, builder.WithPredicates(comesOrGoes())).
		Watches(&autoscalingv2.HorizontalPodAutoscaler{}, concerned, builder.WithPredicates(comesOrGoes())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: parallel,
			ReconciliationTimeout:   timeout,
			EnableWarmup:            new(true), // so that a new leader need not list all first
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](soon, maxBackoff),
		}).
		Complete(r)
}

func targetNames(object client.Object) []string { return []string{scaleTargetOf(object).Name} }

// concerned are the CronFederatedHPAs that name an autoscaler, or what it scales.
func (r *Reconciler) concerned(ctx context.Context, autoscaler client.Object) []reconcile.Request {
	names := []string{scaleTargetOf(autoscaler).Name}
	if _, federated := autoscaler.(*v1alpha1.FederatedHPA); federated && autoscaler.GetName() != names[0] {
		names = append(names, autoscaler.GetName())
	}
	var requests []reconcile.Request
	for _, name := range names {
		var found v1alpha1.CronFederatedHPAList
		// The cache fails only if it was not set up, and then nothing runs.
		_ = r.Hub.List(ctx, &found, client.InNamespace(autoscaler.GetNamespace()), client.MatchingFields{byTarget: name})
		for i := range found.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
		}
	}
	return requests
}

// comesOrGoes passes what changes who is whose autoscaler.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return scaleTargetOf(e.ObjectOld) != scaleTargetOf(e.ObjectNew) ||
			(e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}

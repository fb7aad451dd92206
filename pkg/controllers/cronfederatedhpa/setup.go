// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
)

// Name is the controller's, in its logs, metrics and Events.
const Name = "cronfederatedhpa"

// AddToScheme adds the kinds that the controller reads to scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	return autoscalingv2.AddToScheme(scheme)
}

// SetUp has the manager run the controller while it is the leader or has shards, on the
// autoscalers that its cache was made to watch. Of the objects, parallel many are
// worked on at a time; timeout bounds the work on one.
func (r *Reconciler) SetUp(manager ctrl.Manager, parallel int, timeout time.Duration) error {
	concerned := handler.EnqueueRequestsFromMapFunc(r.concerned)
	b := ctrl.NewControllerManagedBy(manager).
		Named(Name).
		For(&v1alpha1.CronFederatedHPA{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.FederatedHPA{}, concerned, builder.WithPredicates(comesOrGoes())).
		Watches(&v1alpha1.MultidimPodAutoscaler{}, concerned, builder.WithPredicates(comesOrGoes())).
		Watches(&autoscalingv2.HorizontalPodAutoscaler{}, concerned, builder.WithPredicates(comesOrGoes()))
	kind := sharding.Kind{
		GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.CronFederatedHPAKind),
		Object:           &v1alpha1.CronFederatedHPA{}, List: &v1alpha1.CronFederatedHPAList{},
	}
	return r.Shards.Complete(b, sharding.Workers{
		Parallel: parallel, Timeout: timeout,
		Limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](soon, maxBackoff),
	}, kind, r)
}

// concerned are the CronFederatedHPAs that name an autoscaler, or what it scales.
func (r *Reconciler) concerned(ctx context.Context, autoscaler client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range index.Names(autoscaler) {
		var found v1alpha1.CronFederatedHPAList
		// The cache fails only if it was not set up, and then nothing runs.
		_ = r.Hub.List(ctx, &found, client.InNamespace(autoscaler.GetNamespace()), client.MatchingFields{index.ByName: name})
		for i := range found.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
		}
	}
	return requests
}

// comesOrGoes passes what changes who is whose autoscaler.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return claims.Of(e.ObjectOld) != claims.Of(e.ObjectNew)
	}}
}

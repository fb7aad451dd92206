// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/served"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// distribute has the object looked at in distributed mode, and forgets what central mode knew of it.
func (r *Reconciler) distribute(ctx context.Context, object *v1alpha1.FederatedHPA) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(object)
	r.memories.forget(key)
	r.selectors.forget(key)
	r.Metrics.forget(key)
	err := r.Distributed.Look(ctx, object)
	if err == nil && object.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) {
		return reconcile.Result{}, nil // nothing of ours is left
	}
	return r.comeBack(err)
}

// takeBack ends distributed mode for an object that was in it: the members' autoscalers go before the hub scales. Where
// the hub is told, it first learns what the fleet runs by now, so that nothing is scaled by the change. An object that
// nobody has taken out of distributed mode stays as it is.
func (r *Reconciler) takeBack(ctx context.Context, object *v1alpha1.FederatedHPA) (ended bool, err error) {
	if !controllerutil.ContainsFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) {
		return true, nil
	}
	if len(served.Cut(object)) > 0 {
		return false, r.Distributed.Keep(ctx, object)
	}
	if object.Spec.ReplicaDistribution == nil && len(object.Status.Clusters) > 0 {
		if err := r.tellHub(ctx, object); err != nil {
			return false, err
		}
	}
	left, err := r.Distributed.Leave(ctx, object)
	if left {
		r.Distributed.Forget(client.ObjectKeyFromObject(object))
	}
	return left && err == nil, err
}

// tellHub sets the replicas of the workload on the hub to those that the fleet runs, if it has one there.
func (r *Reconciler) tellHub(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	t := &hubTarget{Reconciler: r}
	in := &situation{object: object}
	if t.read(ctx, in); in.scale.Err != nil || in.scale.Replicas == object.Status.CurrentReplicas {
		return nil // central mode says what is wrong
	}
	t.scale.Spec.Replicas = object.Status.CurrentReplicas
	if _, err := t.Scales.Scales(object.Namespace).Update(ctx, t.resource, t.scale, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("telling %s on the hub what the fleet runs: %w", workload.Describe(object.Spec.ScaleTargetRef), err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// keep leaves an object as it is that has lost fields, until they are there again.
func (r *Reconciler) keep(ctx context.Context, object *v1alpha1.FederatedHPA, memory *memory) (reconcile.Result, error) {
	r.Losses.Lost(v1alpha1.FederatedHPAKind, &memory.cut)
	restored, err := r.Recorder.Keeper(r.Live, r.Clock.Now(), r.Observes).Keep(ctx, object)
	if restored {
		r.Losses.Restored(v1alpha1.FederatedHPAKind)
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	return r.again(err)
}

// protect has an object that lacks nothing keep a copy of its fields. That it cannot does not keep the workload from being scaled,
// unless the object has been changed meanwhile.
func (r *Reconciler) protect(ctx context.Context, object *v1alpha1.FederatedHPA, copied bool, memory *memory) error {
	r.Losses.Found(v1alpha1.FederatedHPAKind, &memory.cut)
	if copied || r.Observes || object.DeletionTimestamp != nil || tenancy.Reserved(object.Namespace) {
		return nil
	}
	err := r.Recorder.Keeper(r.Live, r.Clock.Now(), false).Copy(ctx, object)
	if err != nil && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).V(2).Info("Could not protect the fields of the FederatedHPA", "err", err)
		return nil
	}
	return err
}

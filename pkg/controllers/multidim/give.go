// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// give has new Pods of each cluster created with their size, or with that no longer. Before the first one the object gets a
// finalizer, lest it goes without what it wrote.
func (r *Reconciler) give(ctx context.Context, p *plan) error {
	changes := func(a actuation) bool { return a.sets != nil || a.removes }
	if !slices.ContainsFunc(p.actuations, changes) {
		return nil
	}
	if err := r.finalize(ctx, p.Object, controllerutil.AddFinalizer); err != nil {
		return err
	}
	workload.Each(ctx, r.Fleet.Timeout, p.actuations, func(ctx context.Context, a *actuation) {
		switch {
		case a.sets != nil:
			a.giveErr = a.SetPodSizes(ctx, p.Object.Namespace, p.Object.UID, *a.sets)
		case a.removes:
			a.giveErr = a.RemovePodSizes(ctx, p.Object.Namespace, p.Object.UID, p.Object.Name)
		default:
			return
		}
		if a.giveErr == nil {
			klog.FromContext(ctx).Info("Wrote the size of new Pods", "cluster", a.name, "removed", a.removes)
		}
	})
	return nil
}

// finalize changes the finalizers of the object, if that changes something.
func (r *Reconciler) finalize(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler, change func(client.Object, string) bool) error {
	after := object.DeepCopy()
	if !change(after, v1alpha1.PodSizesFinalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	if err := r.Hub.Patch(ctx, after, patch, client.FieldOwner(FieldManager)); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return err
		}
		return fmt.Errorf("writing the finalizer %s: %w", v1alpha1.PodSizesFinalizer, err)
	}
	object.Finalizers, object.ResourceVersion = after.Finalizers, after.ResourceVersion
	return nil
}

// withdraw takes what the object wrote out of all clusters, and its finalizer off. It names the clusters that must be waited for.
func (r *Reconciler) withdraw(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler, memory *memory) (waiting []string, err error) {
	if !controllerutil.ContainsFinalizer(object, v1alpha1.PodSizesFinalizer) {
		return nil, nil
	}
	lately := r.Clock.Since(memory.gave) < unseenFor
	var sites []actuation
	named := known(object)
	for _, c := range r.Fleet.Fleet.Clusters() {
		if c.Joining() && !named[c.Facts().Name] {
			continue // nothing was ever written there
		}
		sites = append(sites, actuation{cluster: new(clusterOf(c))})
	}
	workload.Each(ctx, r.Fleet.Timeout, sites, func(ctx context.Context, a *actuation) { a.giveErr = a.leave(ctx, object, lately) })
	for _, a := range sites {
		if a.giveErr != nil {
			waiting = append(waiting, fmt.Sprintf("%s: %v", a.name, a.giveErr))
		}
	}
	if waiting != nil {
		return waiting, nil
	}
	return nil, client.IgnoreNotFound(r.finalize(ctx, object, controllerutil.RemoveFinalizer))
}

var errUnseen = errors.New("it cannot be seen what new Pods are created with there")

// unseenFor is for how long what was written may not be seen yet.
const unseenFor = 30 * time.Second

// leave takes away what the object wrote in a cluster, seen or written lately. It is an error if that cannot be done now.
func (a *actuation) leave(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler, lately bool) error {
	if silence := a.Silence(); silence != nil {
		return silence
	}
	a.readEntries(ctx, object.Namespace)
	switch {
	case a.entries.Silence != nil:
		return a.entries.Silence
	case !a.entries.Known:
		return errUnseen
	case a.entries.Find(object.Name) == nil && (!lately || a.can.Known && !a.can.Serves):
		return nil
	}
	err := a.RemovePodSizes(ctx, object.Namespace, object.UID, object.Name)
	if refused := refusedBy(err); refused != nil && refused.Why == sizing.RefusedTaken {
		return nil // somebody else has written it since, and keeps it
	}
	return err
}

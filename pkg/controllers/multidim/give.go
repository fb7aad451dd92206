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
	changed := slices.DeleteFunc(slices.Concat(pointers(p.clusters), pointers(p.elsewhere)), func(c *cluster) bool {
		return c.sets == nil && !c.removes
	})
	if len(changed) == 0 {
		return nil
	}
	if err := r.finalize(ctx, p.Object, controllerutil.AddFinalizer); err != nil {
		return err
	}
	workload.Each(ctx, r.Fleet.Timeout, changed, func(ctx context.Context, each **cluster) {
		c := *each
		if c.sets != nil {
			c.giveErr = c.SetPodSizes(ctx, p.Object.Namespace, p.Object.UID, *c.sets)
		} else {
			c.giveErr = c.RemovePodSizes(ctx, p.Object.Namespace, p.Object.UID, p.Object.Name)
		}
		if c.giveErr == nil {
			klog.FromContext(ctx).Info("Wrote the size of new Pods", "cluster", c.name, "removed", c.removes)
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
	var clusters []cluster
	named := known(object)
	for _, c := range r.Fleet.Fleet.Clusters() {
		if c.Joining() && !named[c.Facts().Name] {
			continue // nothing was ever written there
		}
		clusters = append(clusters, clusterOf(c))
	}
	workload.Each(ctx, r.Fleet.Timeout, clusters, func(ctx context.Context, c *cluster) { c.giveErr = c.leave(ctx, object, lately) })
	for i := range clusters {
		if c := &clusters[i]; c.giveErr != nil {
			waiting = append(waiting, fmt.Sprintf("%s: %v", c.name, c.giveErr))
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
func (c *cluster) leave(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler, lately bool) error {
	if silence := c.Silence(); silence != nil {
		return silence
	}
	c.readEntries(ctx, object.Namespace)
	switch {
	case c.entries.Silence != nil:
		return c.entries.Silence
	case !c.entries.Known:
		return errUnseen
	case c.entries.Find(object.Name) == nil && (!lately || c.can.Known && !c.can.Serves):
		return nil
	}
	err := c.RemovePodSizes(ctx, object.Namespace, object.UID, object.Name)
	if refused := refusedBy(err); refused != nil && refused.Why == sizing.RefusedTaken {
		return nil // somebody else has written it since, and keeps it
	}
	return err
}

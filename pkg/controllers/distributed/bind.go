// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// current makes the object the one that the hub stores. What a cache shows may be from before our last write, or from
// before that of a former leader: then what it says of bounds is not true any more.
func (r *Reconciler) current(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if known, found := r.memories.of(object); found {
		if order, err := resourceversion.CompareResourceVersion(object.ResourceVersion, known.wrote); err == nil && order < 0 {
			return conflict(object, "it is known only as before our own last write")
		}
		return nil
	}
	return r.reread(ctx, object)
}

// reread makes the object the one that the hub stores, which it asks.
func (r *Reconciler) reread(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	uid, distributed := object.UID, object.Distributed()
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	switch {
	case apierrors.IsNotFound(err), err == nil && object.UID != uid:
		return conflict(object, "it is gone by now")
	case err != nil:
		return fmt.Errorf("reading it from the hub itself: %w", err)
	}
	v1alpha1.DefaultFederatedHPA(object)
	if object.Distributed() != distributed {
		return conflict(object, "its mode has been changed")
	}
	return nil
}

// bind sees to it that the object can not go before what it has in the members.
func (r *Reconciler) bind(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if controllerutil.ContainsFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) {
		return nil
	}
	return r.patchFinalizers(ctx, object, func() { controllerutil.AddFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) })
}

// patchFinalizers writes the finalizers, provided nobody has changed the object.
func (r *Reconciler) patchFinalizers(ctx context.Context, object *v1alpha1.FederatedHPA, change func()) error {
	before := object.DeepCopy()
	change()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	sent := object.DeepCopy()
	if err := r.Hub.Patch(ctx, sent, patch, client.FieldOwner(fieldManager)); err != nil {
		object.Finalizers = before.Finalizers
		return fmt.Errorf("writing its finalizers: %w", err)
	}
	r.memories.wrote(sent)
	object.ResourceVersion = sent.ResourceVersion
	return nil
}

func conflict(object *v1alpha1.FederatedHPA, why string) error {
	return apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "federatedhpas"}, object.Name, errors.New(why))
}

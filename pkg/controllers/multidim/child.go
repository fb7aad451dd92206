// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// FieldManager owns in managedFields what is written on the hub.
const FieldManager = "fleetscale-multidim"

// apply makes the FederatedHPA what the plan wants: what others changed in it since is undone. A conflict comes again.
func (r *Reconciler) apply(ctx context.Context, p *plan) error {
	switch {
	case p.removes:
		return r.remove(ctx, p.child)
	case p.wants == nil:
		return nil
	case p.child == nil:
		return r.create(ctx, p)
	}
	before, after := p.child.DeepCopy(), p.child.DeepCopy()
	after.Spec = *p.wants
	decideAlike(after, p.Object)
	v1alpha1.DefaultFederatedHPA(before)
	v1alpha1.DefaultFederatedHPA(after)
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) && equality.Semantic.DeepEqual(before.Annotations, after.Annotations) {
		return nil
	}
	patch := client.MergeFromWithOptions(p.child, client.MergeFromWithOptimisticLock{})
	if err := r.Hub.Patch(ctx, after, patch, client.FieldOwner(FieldManager)); err != nil {
		return wrap("writing", p.Object, err)
	}
	klog.FromContext(ctx).Info("Changed the FederatedHPA", "federatedhpa", klog.KObj(after))
	return nil
}

func (r *Reconciler) create(ctx context.Context, p *plan) error {
	child := &v1alpha1.FederatedHPA{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Object.Namespace, Name: p.Object.Name,
			// Without blockOwnerDeletion, which takes a right on the owner's finalizers.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.MultidimPodAutoscalerKind, Name: p.Object.Name, UID: p.Object.UID,
				Controller: new(true),
			}},
		},
		Spec: *p.wants,
	}
	decideAlike(child, p.Object)
	v1alpha1.DefaultFederatedHPA(child)
	err := r.Hub.Create(ctx, child, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		// The cache is behind.
		return apierrors.NewConflict(v1alpha1.SchemeGroupVersion.WithResource("federatedhpas").GroupResource(), child.Name, err)
	}
	if err != nil {
		return wrap("creating", p.Object, err)
	}
	klog.FromContext(ctx).Info("Created the FederatedHPA for the goals", "federatedhpa", klog.KObj(child))
	return nil
}

// decideAlike has the FederatedHPA select its clusters by the same decision of a scheduler as the object does, or by none.
func decideAlike(child *v1alpha1.FederatedHPA, object *v1alpha1.MultidimPodAutoscaler) {
	if decision := selection.DecisionOf(object); decision != nil {
		metav1.SetMetaDataAnnotation(&child.ObjectMeta, placement.DecisionAnnotation, *decision)
		return
	}
	delete(child.Annotations, placement.DecisionAnnotation)
}

// remove deletes the FederatedHPA of an object that has no goals, or not the workload. That keeps its replicas.
func (r *Reconciler) remove(ctx context.Context, child *v1alpha1.FederatedHPA) error {
	err := r.Hub.Delete(ctx, child, client.Preconditions{UID: &child.UID})
	if client.IgnoreNotFound(err) != nil {
		return wrap("deleting", child, err)
	}
	klog.FromContext(ctx).Info("Deleted the FederatedHPA: there are no goals, or another has the workload", "federatedhpa", klog.KObj(child))
	return nil
}

func wrap(doing string, object client.Object, err error) error {
	return fmt.Errorf("%s FederatedHPA %s/%s: %w", doing, object.GetNamespace(), object.GetName(), err)
}

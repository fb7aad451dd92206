// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

// fieldManager owns in managedFields what the rules set.
const fieldManager = "fleetscale-cron"

// target is what the rules set, as it was read.
type target interface {
	// state is what a decision needs to know of it.
	state() cronplan.Target
	// set writes values. It is a conflict if the target was changed since it
	// was read.
	set(ctx context.Context, v cronplan.Values) error
}

// bounds are those of an autoscaler of ours.
type bounds struct {
	hub client.Writer
	of  client.Object
}

func (b bounds) state() cronplan.Target { return cronplan.BoundsOf(b.of) }

// set sends only what changes, so that fields which this program does not know
// stay as they are.
func (b bounds) set(ctx context.Context, v cronplan.Values) error {
	after := b.of.DeepCopyObject().(client.Object)
	cronplan.BoundsIn(after).Set(v)
	patch := client.MergeFromWithOptions(b.of, client.MergeFromWithOptimisticLock{})
	return b.hub.Patch(ctx, after, patch, client.FieldOwner(fieldManager))
}

// workload is anything that has a scale subresource.
type workload struct {
	hub      scale.ScaleInterface // of its namespace
	resource schema.GroupResource
	scale    *autoscalingv1.Scale
}

func (w workload) state() cronplan.Target {
	return cronplan.Target{Checked: true, Has: cronplan.Values{cronplan.Replicas: &w.scale.Spec.Replicas}}
}

func (w workload) set(ctx context.Context, v cronplan.Values) error {
	after := w.scale.DeepCopy()
	after.Spec.Replicas = *v[cronplan.Replicas]
	_, err := w.hub.Update(ctx, w.resource, after, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}

// readBounds reads the autoscaler whose bounds the rules set.
func readBounds(ctx context.Context, hub client.Reader, writer client.Writer, object *v1alpha1.CronFederatedHPA) (target, error) {
	var found client.Object = &v1alpha1.FederatedHPA{}
	if object.Spec.ScaleTargetRef.Kind == v1alpha1.MultidimPodAutoscalerKind {
		found = &v1alpha1.MultidimPodAutoscaler{}
	}
	key := client.ObjectKey{Namespace: object.Namespace, Name: object.Spec.ScaleTargetRef.Name}
	if err := hub.Get(ctx, key, found); err != nil {
		return nil, err
	}
	return bounds{hub: writer, of: found}, nil
}

// readWorkload reads the scale subresource of what the rules set.
func (r *Reconciler) readWorkload(ctx context.Context, object *v1alpha1.CronFederatedHPA) (target, error) {
	ref := object.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, err
	}
	mapping, err := r.Mapper.RESTMapping(gv.WithKind(ref.Kind).GroupKind(), gv.Version)
	if err != nil {
		return nil, err
	}
	w := workload{hub: r.Scales.Scales(object.Namespace), resource: mapping.Resource.GroupResource()}
	w.scale, err = w.hub.Get(ctx, w.resource, ref.Name, metav1.GetOptions{})
	return w, err
}

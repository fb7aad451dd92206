// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// fieldManager owns in managedFields what the rules set.
const fieldManager = "fleetscale-cron"

// target is what the rules set, as it was read.
type target interface {
	// state is what a decision needs to know of it.
	state() targetState
	// set writes values. It is a conflict if the target was changed since it
	// was read.
	set(ctx context.Context, v values) error
}

// bounds are those of a FederatedHPA.
type bounds struct {
	hub client.Writer
	of  *v1alpha1.FederatedHPA
}

func (b bounds) state() targetState {
	spec := &b.of.Spec
	return targetState{
		looked:      true,
		has:         values{minReplicas: spec.MinReplicas, maxReplicas: &spec.MaxReplicas},
		mayHaveNone: hasZeroMetric(spec.Metrics),
	}
}

// set sends only what changes, so that fields which this program does not know
// stay as they are.
func (b bounds) set(ctx context.Context, v values) error {
	after := b.of.DeepCopy()
	if v[minReplicas] != nil {
		after.Spec.MinReplicas = v[minReplicas]
	}
	if v[maxReplicas] != nil {
		after.Spec.MaxReplicas = *v[maxReplicas]
	}
	patch := client.MergeFromWithOptions(b.of, client.MergeFromWithOptimisticLock{})
	return b.hub.Patch(ctx, after, patch, client.FieldOwner(fieldManager))
}

// hasZeroMetric says whether there is a metric that can be read without Pods.
func hasZeroMetric(metrics []autoscalingv2.MetricSpec) bool {
	for _, m := range metrics {
		if m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType {
			return true
		}
	}
	return false
}

// workload is anything that has a scale subresource.
type workload struct {
	hub      scale.ScaleInterface // of its namespace
	resource schema.GroupResource
	scale    *autoscalingv1.Scale
}

func (w workload) state() targetState {
	return targetState{looked: true, has: values{replicas: &w.scale.Spec.Replicas}}
}

func (w workload) set(ctx context.Context, v values) error {
	after := w.scale.DeepCopy()
	after.Spec.Replicas = *v[replicas]
	_, err := w.hub.Update(ctx, w.resource, after, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}

// readBounds reads the FederatedHPA that the rules set.
func readBounds(ctx context.Context, hub client.Reader, writer client.Writer, object *v1alpha1.CronFederatedHPA) (target, error) {
	found := &v1alpha1.FederatedHPA{}
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

// unreadable is what an error means of reading a target.
func unreadable(object *v1alpha1.CronFederatedHPA, err error) *trouble {
	ref := object.Spec.ScaleTargetRef
	switch {
	case meta.IsNoMatchError(err):
		return &trouble{reason: reasonNotFound, message: fmt.Sprintf("the hub knows no kind %s in %s", ref.Kind, ref.APIVersion)}
	case apierrors.IsNotFound(err):
		return &trouble{reason: reasonNotFound, message: fmt.Sprintf("there is no %s %q in the namespace, or it can not be scaled", ref.Kind, ref.Name)}
	}
	return &trouble{reason: reasonUnreachable, message: fmt.Sprintf("reading %s %q: %v", ref.Kind, ref.Name, err)}
}

// unsettable is what an error means of setting a target.
func unsettable(object *v1alpha1.CronFederatedHPA, err error) *trouble {
	reason := reasonNotSet
	switch {
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		reason = reasonRefused
	case apierrors.IsNotFound(err):
		return unreadable(object, err)
	}
	ref := object.Spec.ScaleTargetRef
	return &trouble{reason: reason, message: fmt.Sprintf("setting %s %q: %v", ref.Kind, ref.Name, err)}
}

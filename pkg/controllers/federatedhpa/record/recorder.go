// SPDX-License-Identifier: Apache-2.0

// Package record writes what is known of a FederatedHPA to the hub: its status, its finalizer and its Events, in the same
// way for both modes.
package record

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// FieldManager owns in managedFields what is written on the hub.
const FieldManager = workload.FieldManager

// resource is the kind, as errors name it.
const resource = "federatedhpas"

// Recorder writes FederatedHPAs.
type Recorder struct {
	hub    client.Client
	events events.EventRecorder
	// known is the resource version that the hub is known to have had last.
	known perobject.Store[string]
}

// New returns a recorder.
func New(hub client.Client, events events.EventRecorder) *Recorder {
	return &Recorder{hub: hub, events: events}
}

// Stale reports whether the object, which a cache gave, is older than what was written or read here.
func (r *Recorder) Stale(object *v1alpha1.FederatedHPA) bool {
	known := *r.known.Of(object)
	if known == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(object.ResourceVersion, known)
	return err == nil && order < 0
}

// Saw notes that the hub itself has this version of the object.
func (r *Recorder) Saw(object *v1alpha1.FederatedHPA) { *r.known.Of(object) = object.ResourceVersion }

// Forget removes what is known of an object that is gone.
func (r *Recorder) Forget(key client.ObjectKey) { r.known.Forget(key) }

// Status writes the status of the object, provided nobody has changed the object, and gives the object its new version,
// but not the status. A conflict is reported to nobody else: the object comes again.
func (r *Recorder) Status(ctx context.Context, object *v1alpha1.FederatedHPA, action string, status v1alpha1.FederatedHPAStatus) error {
	bare := *object
	bare.Status, bare.ManagedFields = v1alpha1.FederatedHPAStatus{}, nil // who owns what the hub knows; it does not read that from a status
	after := bare.DeepCopy()
	after.Status = status
	err := r.hub.Status().Update(ctx, after, client.FieldOwner(FieldManager))
	switch {
	case err == nil:
		r.written(object, after)
		return nil
	case apierrors.IsConflict(err):
		return err
	}
	r.Event(object, Event{Type: corev1.EventTypeWarning, Reason: EventFailedUpdateStatus, Message: err.Error()}, action)
	return fmt.Errorf("writing the status: %w", err)
}

// Bind adds the finalizer that keeps an object until its autoscalers in the members are gone.
func (r *Recorder) Bind(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if Bound(object) {
		return nil
	}
	return r.finalizers(ctx, object, func() { controllerutil.AddFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) })
}

// Unbind removes it.
func (r *Recorder) Unbind(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	return r.finalizers(ctx, object, func() { controllerutil.RemoveFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) })
}

// Bound reports whether the object may have autoscalers in members.
func Bound(object *v1alpha1.FederatedHPA) bool {
	return controllerutil.ContainsFinalizer(object, v1alpha1.MemberAutoscalersFinalizer)
}

// finalizers writes the finalizers, provided nobody has changed the object.
func (r *Recorder) finalizers(ctx context.Context, object *v1alpha1.FederatedHPA, change func()) error {
	before := object.DeepCopy()
	change()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	sent := object.DeepCopy()
	if err := r.hub.Patch(ctx, sent, patch, client.FieldOwner(FieldManager)); err != nil {
		object.Finalizers = before.Finalizers
		return fmt.Errorf("writing its finalizers: %w", err)
	}
	r.written(object, sent)
	return nil
}

func (r *Recorder) written(object, after *v1alpha1.FederatedHPA) {
	r.Saw(after)
	object.ResourceVersion = after.ResourceVersion
}

// Event sends one Event of the object; action is what was being done.
func (r *Recorder) Event(object *v1alpha1.FederatedHPA, e Event, action string) {
	r.events.Eventf(object, nil, e.Type, e.Reason, action, "%s", summary.Brief(e.Message, summary.LongestNote))
}

// Tell sends all of them.
func (r *Recorder) Tell(object *v1alpha1.FederatedHPA, all Events, action string) {
	for _, e := range all {
		r.Event(object, e, action)
	}
}

// Conflict is the error for an object that was changed since it was read.
func Conflict(object *v1alpha1.FederatedHPA, why string) error {
	return apierrors.NewConflict(v1alpha1.Resource(resource), object.Name, errors.New(why))
}

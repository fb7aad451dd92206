// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/restore"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

// untilWhole returns when to come back for an object that may not be reconciled now: it is not as its owner wants it, or may not be.
// Zero: it may, or is gone. It is an error if another controller writes its status.
func (r *Reconciler) untilWhole(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	object := &v1alpha1.CronFederatedHPA{}
	if err := r.Hub.Get(ctx, key, object); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	memory := r.memories.Of(object)
	lost := served.Cut(object)
	if memory.doubt.About(object, lost, fieldManager, r.Clock.Now()) {
		return untilFree, nil
	}
	if err := r.rivals.Of(object); err != nil {
		r.Events.Eventf(object, nil, corev1.EventTypeWarning, eventAnotherController, "SetTarget", "%s", cronplan.Brief(err.Error()))
		return 0, err
	}
	switch {
	case !mayRun(object):
		return 0, nil
	case len(lost) > 0:
		return r.keep(ctx, object, memory)
	}
	r.Losses.Found(v1alpha1.CronFederatedHPAKind, &memory.cut)
	if r.Observes {
		return 0, nil
	}
	return r.protect(ctx, object)
}

// mayRun reports whether rules of the object may run at all: what one that is being deleted, or is in another's namespace, has lost does
// not matter.
func mayRun(object *v1alpha1.CronFederatedHPA) bool {
	return object.DeletionTimestamp == nil && cronplan.Allowed(object)
}

// keep leaves an object as it is that has lost fields, until they are there again.
func (r *Reconciler) keep(ctx context.Context, object *v1alpha1.CronFederatedHPA, memory *remembered) (time.Duration, error) {
	again := memory.cut
	r.Losses.Lost(v1alpha1.CronFederatedHPAKind, &memory.cut)
	restored, err := r.keeper().Keep(ctx, object)
	if restored {
		r.Losses.Restored(v1alpha1.CronFederatedHPAKind)
	}
	switch {
	case apierrors.IsConflict(err):
		return untilFree, nil // the cache does not show it yet
	case again && !restored:
		return maxBackoff, err
	}
	return untilFree, err
}

// protect has an object that lacks nothing keep a copy of its fields; then it comes back. That it cannot keeps no rule from running,
// unless the object has been changed meanwhile.
func (r *Reconciler) protect(ctx context.Context, object *v1alpha1.CronFederatedHPA) (time.Duration, error) {
	if speccopy.Agrees(object) {
		return 0, nil
	}
	err := r.keeper().Copy(ctx, object)
	switch {
	case apierrors.IsConflict(err):
		return 0, err
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Could not protect the fields of the CronFederatedHPA", "err", err)
		return 0, nil
	}
	return soon, nil
}

// undoubt resets the doubt: what is read while nothing may be done may be cut.
func (r *Reconciler) undoubt(key client.ObjectKey) {
	if known := r.memories.Find(key); known != nil {
		known.doubt = served.Doubt{}
	}
}

// keeper keeps CronFederatedHPAs whole.
func (r *Reconciler) keeper() *restore.Keeper[v1alpha1.CronFederatedHPA, *v1alpha1.CronFederatedHPA] {
	return &restore.Keeper[v1alpha1.CronFederatedHPA, *v1alpha1.CronFederatedHPA]{
		Hub: r.Hub, Live: r.Live, Manager: fieldManager, Kind: v1alpha1.CronFederatedHPAKind, Resource: "cronfederatedhpas",
		Rests:    "No rule runs",
		Observes: r.Observes,
		Saw:      func(*v1alpha1.CronFederatedHPA) {},
		Told: func(object *v1alpha1.CronFederatedHPA) bool {
			return cronplan.WhyNotReady(object) == restore.ReasonSpecCut
		},
		Tell: r.tellCut,
		Restored: func(object *v1alpha1.CronFederatedHPA, message string) {
			r.Events.Eventf(object, nil, corev1.EventTypeNormal, restore.EventSpecRestored, restore.Action, "%s", cronplan.Brief(message))
		},
	}
}

// tellCut has the status say that fields are lost, and says it in an Event, once.
func (r *Reconciler) tellCut(ctx context.Context, object *v1alpha1.CronFederatedHPA, message string) error {
	known := cronplan.WhyNotReady(object) == restore.ReasonSpecCut
	after := object.DeepCopy()
	after.Status = cronplan.NotReady(object, restore.ReasonSpecCut, message, r.Clock.Now())
	if err := r.storeStatus(ctx, object, after); err != nil || known {
		return err
	}
	r.Events.Eventf(object, nil, corev1.EventTypeWarning, restore.ReasonSpecCut, restore.Action, "%s", cronplan.Brief(message))
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// gather collects what a decision rests on. The target is nil if it was not
// looked at, or can not be read. As long as nothing is due, all comes from the
// cache.
func (r *Reconciler) gather(ctx context.Context, key client.ObjectKey) (in situation, t target, err error) {
	in.now = r.Clock.Now()
	object := &v1alpha1.CronFederatedHPA{}
	if err := r.Hub.Get(ctx, key, object); err != nil {
		return in, nil, err
	}
	if err := r.rivals.Of(object); err != nil {
		r.Events.Eventf(object, nil, corev1.EventTypeWarning, eventAnotherController, "SetTarget", "%s", brief(err.Error(), maxMessage))
		return in, nil, err
	}
	in.failing = r.troubles.of(object)
	if mustLook(object, in.now) {
		if t, object, err = r.look(ctx, &in, object); err != nil {
			return in, nil, err
		}
	}
	v1alpha1.DefaultCronFederatedHPA(object)
	in.object = object
	in.rules, in.faults = readRules(object, &r.schedules)
	if !targetsFederatedHPA(object) {
		in.target.governor, err = governor(ctx, r.Hub, object)
	}
	return in, t, err
}

// mustLook says whether the target must be known: the object is new or
// changed, its target was not there, or a run is due.
func mustLook(object *v1alpha1.CronFederatedHPA, now time.Time) bool {
	status := &object.Status
	if status.ObservedGeneration == nil || *status.ObservedGeneration != object.Generation || !targetFound(object) {
		return true
	}
	return slices.ContainsFunc(status.ExecutionHistories, func(e v1alpha1.ExecutionHistory) bool {
		return e.NextExecutionTime != nil && !e.NextExecutionTime.After(now)
	})
}

// look reads the target, and then the object once more, both from the hub
// itself. In this order no run is done twice: had another leader done it after
// we read the target, our write would be a conflict; had it before, the object
// would say so.
func (r *Reconciler) look(ctx context.Context, in *situation, cached *v1alpha1.CronFederatedHPA) (target, *v1alpha1.CronFederatedHPA, error) {
	t, err := r.readTarget(ctx, cached)
	if err != nil {
		in.target = targetState{looked: true, trouble: in.still(unreadable(cached, err))}
	} else {
		in.target = t.state()
	}
	live := &v1alpha1.CronFederatedHPA{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(cached), live); err != nil {
		return nil, nil, fmt.Errorf("reading the CronFederatedHPA anew: %w", err)
	}
	if live.Spec.ScaleTargetRef != cached.Spec.ScaleTargetRef || live.UID != cached.UID {
		return nil, nil, errStale
	}
	return t, live, nil
}

func (r *Reconciler) readTarget(ctx context.Context, object *v1alpha1.CronFederatedHPA) (target, error) {
	if targetsFederatedHPA(object) {
		return readBounds(ctx, r.Live, r.Hub, object)
	}
	return r.readWorkload(ctx, object)
}

// still says since when there is a trouble: since another was first met, if
// none of the tries in between did any better.
func (in *situation) still(t *trouble) *trouble {
	t.since = in.now
	if in.failing != nil {
		t.since = in.failing.since
	}
	return t
}

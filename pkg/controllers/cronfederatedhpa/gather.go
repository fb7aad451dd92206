// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

// gather collects the input of a decision. The target is nil if it was not
// needed, or cannot be read. As long as nothing is due, all comes from the
// cache.
func (r *Reconciler) gather(ctx context.Context, key client.ObjectKey) (in cronplan.Situation, t target, err error) {
	in.Now = r.Clock.Now()
	object := &v1alpha1.CronFederatedHPA{}
	if err := r.Hub.Get(ctx, key, object); err != nil {
		return in, nil, err
	}
	in.Delay, in.Grace = r.memories.Of(object).delay, r.PropagationGrace
	if cronplan.Allowed(object) && cronplan.NeedsTarget(object, in.Now) {
		if t, object, err = r.readLive(ctx, &in, object); err != nil {
			return in, nil, err
		}
	}
	if mayRun(object) && len(served.Cut(object)) > 0 {
		return in, nil, errPruned // since it was last read
	}
	in.Pruned = served.Pruned(object, fieldManager)
	v1alpha1.DefaultCronFederatedHPA(object) // only now: defaults would hide what was dropped
	in.Object = object
	in.Timetables = r.schedules.of(object)
	in.Target.ScaledBy, err = scaledBy(ctx, r.Hub, object)
	return in, t, err
}

// readLive reads the target, and then the object once more, both from the hub
// itself. In this order no run is done twice: had another leader done it after
// we read the target, our write would be a conflict; had it before, the object
// would say so.
func (r *Reconciler) readLive(
	ctx context.Context, in *cronplan.Situation, cached *v1alpha1.CronFederatedHPA,
) (target, *v1alpha1.CronFederatedHPA, error) {
	asked := cached.DeepCopy()
	v1alpha1.DefaultCronFederatedHPA(asked)
	t, err := r.readTarget(ctx, asked, in.Delay == nil && cronplan.Due(cached, in.Now))
	if err != nil {
		in.Target = cronplan.Target{Checked: true, Trouble: cronplan.Unreadable(cached.Spec.ScaleTargetRef, err)}
	} else {
		in.Target = t.state()
	}
	live := &v1alpha1.CronFederatedHPA{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(cached), live); err != nil {
		return nil, nil, fmt.Errorf("reading the CronFederatedHPA again: %w", err)
	}
	if live.Spec.ScaleTargetRef != cached.Spec.ScaleTargetRef || live.UID != cached.UID || live.Generation != cached.Generation {
		return nil, nil, errStale // what was read may not be what the spec speaks of by now
	}
	if served.Pruned(live, fieldManager) && !served.Pruned(cached, fieldManager) {
		return nil, nil, errPruned
	}
	return t, live, nil
}

// readTarget reads what the rules set. The clusters are asked again for a workload that was found nowhere if asks.
func (r *Reconciler) readTarget(ctx context.Context, object *v1alpha1.CronFederatedHPA, asks bool) (target, error) {
	if cronplan.TargetsAutoscaler(object) {
		return readBounds(ctx, r.Live, r.Hub, object)
	}
	return r.readWorkload(ctx, object, asks)
}

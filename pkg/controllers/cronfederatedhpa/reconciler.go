// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

const (
	// margin is added to the time of a run, so that it has come when we wake.
	margin = 100 * time.Millisecond
	// maxSleep bounds how long a step of the clock goes unnoticed.
	maxSleep = time.Minute
	// maxTries is how often a target is set again, at once, while others set it too.
	maxTries = 5
	// untilFree is the delay until the next reconcile while nothing may be done.
	untilFree = time.Second
	// soon is when to come back after somebody else was faster.
	soon = 100 * time.Millisecond
	// maxBackoff bounds the time between two tries of what ends with an error.
	maxBackoff = 30 * time.Second
)

var (
	// errStale says that what was read no longer fits together.
	errStale = errors.New("the object was changed meanwhile")
	// errPruned says that the hub, or the cache, shows less of the object than it did a moment ago.
	errPruned = errors.New("the hub hides fields of the object")
)

// Options configure a [Reconciler].
type Options struct {
	// Hub reads CronFederatedHPAs and other autoscalers from a cache, and writes.
	Hub client.Client
	// Live reads from the hub's API server itself.
	Live client.Reader
	// Scales reads and writes the scale subresource of what Mapper finds.
	Scales scale.ScalesGetter
	Mapper meta.RESTMapper
	// Fleet reads the member clusters; nil: there are none.
	Fleet *selection.Reader
	// PropagationGrace is for how long clusters need not follow a workload on the hub.
	PropagationGrace time.Duration
	// TimeZone is that of rules which name none.
	TimeZone string
	// Hold is why nothing may be done now; nil: something may.
	Hold    func() error
	Clock   clock.PassiveClock
	Events  events.EventRecorder
	Metrics *Metrics
	Losses  *served.Losses
	// Observes is for a program that writes nothing: runs succeed in its own view, and leave the target as it is.
	Observes bool
	// Shards has the objects; nil: all are reconciled by the leader.
	Shards *sharding.Shards
}

// Reconciler brings one CronFederatedHPA after another up to the clock.
type Reconciler struct {
	Options
	schedules schedules
	memories  perobject.Store[remembered]
	rivals    *served.Rivals
}

// New returns a reconciler, to be called by one replica at a time for each object. Should two
// call it, each run is still done once.
func New(o Options) *Reconciler {
	r := &Reconciler{
		Options:   o,
		schedules: newSchedules(o.TimeZone),
		rivals:    served.NewRivals(fieldManager, o.Clock),
	}
	r.memories.Dropped = func(key client.ObjectKey, m *remembered) {
		r.Losses.Found(v1alpha1.CronFederatedHPAKind, &m.cut)
		r.Metrics.forget(key)
	}
	return r
}

// Reconcile applies due runs to the target, and reports in the status
// what became of them. An error is returned, not logged.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if r.Hold() != nil {
		r.undoubt(request.NamespacedName)
		return reconcile.Result{RequeueAfter: untilFree}, nil
	}
	if wait, err := r.untilWhole(ctx, request.NamespacedName); err != nil {
		return comeBack(err)
	} else if wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	in, decision, err := r.run(ctx, request.NamespacedName)
	if apierrors.IsNotFound(err) || err == nil && in.Object.DeletionTimestamp != nil {
		r.memories.Forget(request.NamespacedName)
		return reconcile.Result{}, nil // nothing is taken back
	}
	if err == nil {
		err = r.record(ctx, in, decision)
	}
	if err != nil {
		return comeBack(err)
	}
	return reconcile.Result{RequeueAfter: sleep(in.Now, decision.Wake)}, nil
}

// run decides, and sets the target: again if another wrote to it meanwhile, and
// then it may all be different. Some webhooks always say that another did, so
// that is soon a trouble like any other.
func (r *Reconciler) run(ctx context.Context, key client.ObjectKey) (cronplan.Situation, cronplan.Decision, error) {
	for try := 1; ; try++ {
		in, target, err := r.gather(ctx, key)
		if err != nil || in.Object.DeletionTimestamp != nil {
			return in, cronplan.Decision{}, err
		}
		d := cronplan.Decide(in)
		if r.Observes {
			wouldSet(ctx, in, d.Set)
			return in, d, nil
		}
		if !d.Set.Empty() {
			err = r.set(ctx, in, target, d.Set)
		}
		switch {
		case err == nil:
			d = await(&in, target, d)
			return in, d, nil
		case !apierrors.IsConflict(err) || try == maxTries:
			in.Target.Trouble = cronplan.Unsettable(in.Object.Spec.ScaleTargetRef, err)
			return in, cronplan.Decide(in), nil
		}
	}
}

// await returns the decision, or another one, that no run has succeeded yet: no cluster follows the hub.
func await(in *cronplan.Situation, t target, d cronplan.Decision) cronplan.Decision {
	if wanted := d.Wanted(in.Target.Has); wanted != nil {
		if in.Target.Trouble = awaits(in.Object, t, *wanted); in.Target.Trouble != nil {
			return cronplan.Decide(*in)
		}
	}
	return d
}

// set writes to the target.
func (r *Reconciler) set(ctx context.Context, in cronplan.Situation, t target, v cronplan.Values) error {
	if err := t.set(ctx, v); err != nil {
		return err
	}
	ref := in.Object.Spec.ScaleTargetRef
	klog.FromContext(ctx).Info("Set the target", "target", ref.Kind+"/"+ref.Name, "from", in.Target.Has.String(), "to", v.String())
	return nil
}

// wouldSet logs what would be written to the target.
func wouldSet(ctx context.Context, in cronplan.Situation, v cronplan.Values) {
	if v.Empty() {
		return
	}
	ref := in.Object.Spec.ScaleTargetRef
	klog.FromContext(ctx).V(2).Info("Would set the target", "target", ref.Kind+"/"+ref.Name, "from", in.Target.Has.String(), "to", v.String())
}

// record stores the status if it changed, and only then tells the world.
func (r *Reconciler) record(ctx context.Context, in cronplan.Situation, d cronplan.Decision) error {
	after := in.Object.DeepCopy()
	after.Status = d.Status
	if err := r.storeStatus(ctx, in.Object, after); err != nil {
		return err
	}
	r.tell(ctx, in, d)
	return nil
}

// storeStatus writes the status of an object if it changed, provided that nobody changed the object.
func (r *Reconciler) storeStatus(ctx context.Context, before, after *v1alpha1.CronFederatedHPA) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	if err := r.Hub.Status().Update(ctx, after, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// Leave forgets objects that another replica is to bring up to the clock. What it needs to know is in their statuses.
func (r *Reconciler) Leave(_ context.Context, in func(client.ObjectKey) bool) {
	r.memories.ForgetAll(in)
}

// comeBack tries again at once where another writer was faster, which is
// nothing to complain of, and elsewhere later and later.
func comeBack(err error) (reconcile.Result, error) {
	switch {
	case errors.Is(err, errStale) || apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: soon}, nil
	case errors.Is(err, errPruned):
		return reconcile.Result{RequeueAfter: untilFree}, nil
	}
	return reconcile.Result{}, err
}

// sleep returns how long there is nothing to do. Zero: until something changes.
func sleep(now, wake time.Time) time.Duration {
	if wake.IsZero() {
		return 0
	}
	return min(wake.Sub(now)+margin, maxSleep)
}

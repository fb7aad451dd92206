// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/placement"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/served"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

const (
	// soon is when to come back where something is awaited that comes by itself.
	soon         = time.Second
	fieldManager = workload.FieldManager
)

// Options are what a [Reconciler] is made of.
type Options struct {
	// Hub reads FederatedHPAs and other autoscalers from a cache, and writes status.
	Hub client.Client
	// Live reads workloads from the hub's API server itself.
	Live client.Reader
	// Scales reads and writes the scale subresource of what Mapper finds.
	Scales scale.ScalesGetter
	Mapper meta.RESTMapper
	Fleet  workload.Fleet
	// Placements says where workloads are placed by others. Nil: nobody places them.
	Placements placement.Source
	Ask        Asker
	// Distributed takes over where the members' own autoscalers scale.
	Distributed Distributed
	// Hold is why nothing may be done now; nil: something may.
	Hold func() error
	// SyncPeriod is the time between two looks at an object.
	SyncPeriod time.Duration
	// MemberTimeout bounds what is asked of all members, side by side, for one object.
	MemberTimeout time.Duration
	// PropagationGrace is for how long members need not follow the workload on the hub.
	PropagationGrace time.Duration
	Decision         replicas.Options
	Clock            clock.PassiveClock
	Events           events.EventRecorder
	Metrics          *Metrics
}

// Asker asks the hub for one metric.
type Asker interface {
	Ask(ctx context.Context, question hubmetrics.Question) replicas.Metric
}

// Distributed is the other mode of a FederatedHPA: the bounds are split into autoscalers of the members.
type Distributed interface {
	// Look looks at an object of that mode, or at one that is being deleted.
	Look(ctx context.Context, object *v1alpha1.FederatedHPA) error
	// Leave takes what an object has in members away, and says whether it is gone.
	Leave(ctx context.Context, object *v1alpha1.FederatedHPA) (left bool, err error)
	// Keep leaves an object as it is that has lost fields, and says so.
	Keep(ctx context.Context, object *v1alpha1.FederatedHPA) error
	Forget(key client.ObjectKey)
}

// Reconciler looks at one FederatedHPA after another.
type Reconciler struct {
	Options
	memories  *memories
	selectors *selectors
	rivals    *served.Rivals
	doubts    *doubts
}

// New returns a reconciler, to be called by one leader at a time.
func New(o Options) *Reconciler {
	return &Reconciler{
		Options: o, memories: newMemories(), selectors: newSelectors(), rivals: served.NewRivals(fieldManager, o.Clock), doubts: newDoubts(),
	}
}

// Reconcile brings the replicas of one workload to what its load calls for, and says in the status why. An error is
// returned, not logged; it has been said in the status and in an Event, if it is of interest to the object's owner.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if r.hold() != nil {
		r.doubts.forget(request.NamespacedName) // what is seen meanwhile may be cut
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	started := r.Clock.Now()
	object, err := r.read(ctx, request.NamespacedName)
	if apierrors.IsNotFound(err) {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil // the workload keeps its replicas
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if r.putOff(object) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	if err := r.rivals.Of(object); err != nil {
		r.event(object, corev1.EventTypeWarning, eventAnotherController, err.Error())
		return reconcile.Result{}, err
	}
	if object.Distributed() || object.DeletionTimestamp != nil {
		return r.distribute(ctx, object)
	}
	if left, err := r.takeBack(ctx, object); !left {
		return r.comeBack(err)
	}
	target := r.targetOf(object)
	in := r.gather(ctx, object, target)
	decision := decide(in)
	if decision.writes() {
		decision = target.write(ctx, &in, decision)
	}
	r.memories.keep(&in, &decision)
	err = r.record(ctx, &in, &decision)
	r.Metrics.reconciled(&in, &decision, err, r.Clock.Since(started))
	return r.comeBack(cmp.Or(err, decision.Err))
}

// hold is why nothing can be done yet.
func (r *Reconciler) hold() error {
	if err := r.Hold(); err != nil {
		return err
	}
	return r.Fleet.Settled()
}

// putOff says that the object is not what it should be, and soon will be: as our last write left it, and as its owner
// wrote it.
func (r *Reconciler) putOff(object *v1alpha1.FederatedHPA) bool {
	if r.doubts.about(object, r.Clock.Now()) {
		return true
	}
	stale := r.memories.stale(object)
	if stale {
		r.Metrics.skipped()
	}
	return stale
}

// comeBack is one sync period later, after an error too, but at once where the object was changed meanwhile.
func (r *Reconciler) comeBack(err error) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: soon}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: r.SyncPeriod}, nil
}

func (r *Reconciler) forget(key client.ObjectKey) {
	r.memories.forget(key)
	r.selectors.forget(key)
	r.doubts.forget(key)
	r.Metrics.forget(key)
	r.Distributed.Forget(key)
}

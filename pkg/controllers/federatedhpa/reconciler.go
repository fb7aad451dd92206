// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

const (
	// soon is the delay of the next reconcile where something is awaited.
	soon = perobject.Soon
	// eventAnotherController: another controller writes the status too, so nothing is reconciled.
	eventAnotherController = "AnotherController"
)

// Options configure a [Reconciler].
type Options struct {
	// Hub reads FederatedHPAs from a cache.
	Hub client.Reader
	// Live reads from the hub's API server itself.
	Live        client.Reader
	Recorder    *record.Recorder
	Central     *central.Mode
	Distributed Distributed
	// Hold is why nothing may be done now; nil: something may.
	Hold func() error
	// SyncPeriod is the time between two reconciles of an object.
	SyncPeriod time.Duration
	Clock      clock.PassiveClock
	Losses     *served.Losses
	Metrics    *Metrics
	// MostShown is how many objects have metrics of their own.
	MostShown int
	// Observes is for a program that writes nothing: what it is given has objects observe, and keeps their statuses.
	Observes bool
	// Shards has the objects; nil: all are reconciled by the leader.
	Shards *sharding.Shards
}

// Distributed is the mode in which the bounds are split into autoscalers of the members: [distributed.Mode].
type Distributed interface {
	// Reconcile reconciles an object of that mode, or one that is being deleted.
	Reconcile(ctx context.Context, object *v1alpha1.FederatedHPA, memory *distributed.Memory) error
	// Leave takes what an object has in members away, and reports whether it is gone.
	Leave(ctx context.Context, object *v1alpha1.FederatedHPA, memory *distributed.Memory) (left bool, err error)
	Forget(key client.ObjectKey, memory *distributed.Memory)
}

// Reconciler reconciles FederatedHPAs.
type Reconciler struct {
	Options
	memories perobject.Store[memory]
	rivals   *served.Rivals
}

// memory is what is known of one object from one reconcile to the next.
type memory struct {
	doubt served.Doubt
	// cut: the object has lost fields.
	cut         bool
	central     central.Memory
	distributed distributed.Memory
}

// New returns a reconciler, to be called by one replica at a time for each object.
func New(o Options) *Reconciler {
	r := &Reconciler{Options: o, rivals: served.NewRivals(record.FieldManager, o.Clock)}
	r.memories.Dropped = r.dropped
	return r
}

// Reconcile scales one workload to what its load requires, in the mode of its FederatedHPA. An error is returned, not
// logged; it was reported in the status and in an Event, if it concerns the object's owner.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if r.Hold() != nil {
		r.undoubt(request.NamespacedName)
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	object := &v1alpha1.FederatedHPA{}
	err := r.Hub.Get(ctx, request.NamespacedName, object)
	if apierrors.IsNotFound(err) {
		r.memories.Forget(request.NamespacedName)
		return reconcile.Result{}, nil // the workload keeps its replicas
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	memory := r.memories.Of(object)
	r.Metrics.show(object, r.MostShown)
	lost := served.Cut(object)
	if r.deferred(object, lost, memory) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	if err := r.rivals.Of(object); err != nil {
		r.Recorder.Event(object, record.Event{Type: corev1.EventTypeWarning, Reason: eventAnotherController, Message: err.Error()}, "Autoscale")
		return reconcile.Result{}, err
	}
	return r.reconcile(ctx, object, len(lost) > 0, memory)
}

// reconcile is Reconcile of an object that nobody else acts on; cut: it has lost fields for good.
func (r *Reconciler) reconcile(ctx context.Context, object *v1alpha1.FederatedHPA, cut bool, memory *memory) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(object)
	copied := speccopy.Agrees(object)
	if object.DeletionTimestamp != nil {
		served.Restore(object) // what it has lost holds for its end too
	}
	v1alpha1.DefaultFederatedHPA(object) // only now: defaults would hide what was dropped; those of admission may be missing
	if !cut {
		if err := r.protect(ctx, object, copied, memory); err != nil {
			return r.again(err)
		}
	}
	switch {
	case object.DeletionTimestamp != nil && r.Observes: // it has nothing of ours to take away
		r.memories.Forget(key)
		return reconcile.Result{}, nil
	case object.DeletionTimestamp != nil:
	case tenancy.Reserved(object.Namespace):
		r.Central.Forget(key, &memory.central)
		r.Distributed.Forget(key, &memory.distributed)
		return r.again(r.refuse(ctx, object))
	case cut:
		return r.keep(ctx, object, memory)
	case rests(object):
		if object.Spec.Mode == v1alpha1.ModePaused { // another may count the same Pods meanwhile
			r.Central.Forget(key, &memory.central)
		}
		return r.again(r.rest(ctx, object))
	}
	if object.Distributed() || object.DeletionTimestamp != nil {
		r.Central.Forget(key, &memory.central)
		return r.released(object, r.Distributed.Reconcile(ctx, object, &memory.distributed))
	}
	if ended, err := r.endDistributed(ctx, object, memory); !ended {
		return r.again(err)
	}
	return r.again(r.Central.Reconcile(ctx, object, &memory.central))
}

// released is [Reconciler.again], except for an object that is being deleted and has no finalizer left.
func (r *Reconciler) released(object *v1alpha1.FederatedHPA, err error) (reconcile.Result, error) {
	if err == nil && object.DeletionTimestamp != nil && !record.Bound(object) {
		return reconcile.Result{}, nil
	}
	return r.again(err)
}

// again requeues after one sync period, but at once where the object was changed meanwhile.
func (r *Reconciler) again(err error) (reconcile.Result, error) {
	return perobject.Again(err, r.SyncPeriod)
}

// endDistributed ends distributed mode for an object that was in it, and reports whether it has ended: the members'
// autoscalers go before the hub scales. Where the hub is told, it first learns what the fleet runs by now, so that nothing is
// scaled by the change.
func (r *Reconciler) endDistributed(ctx context.Context, object *v1alpha1.FederatedHPA, memory *memory) (ended bool, err error) {
	if !record.Bound(object) {
		return true, nil
	}
	if object.Spec.ReplicaDistribution == nil && len(object.Status.Clusters) > 0 {
		if err := r.Central.TellHub(ctx, object); err != nil {
			return false, err
		}
	}
	left, err := r.Distributed.Leave(ctx, object, &memory.distributed)
	if left {
		r.Distributed.Forget(client.ObjectKeyFromObject(object), &memory.distributed)
	}
	return left && err == nil, err
}

// Leave forgets objects that another replica is to reconcile. What it needs to know is in their statuses.
func (r *Reconciler) Leave(_ context.Context, in func(client.ObjectKey) bool) {
	r.memories.ForgetAll(in)
}

// dropped cleans up after an object that is gone.
func (r *Reconciler) dropped(key client.ObjectKey, memory *memory) {
	r.Metrics.forget(key)
	r.Central.Forget(key, &memory.central)
	r.Distributed.Forget(key, &memory.distributed)
	r.Recorder.Forget(key)
	r.Losses.Found(v1alpha1.FederatedHPAKind, &memory.cut)
}

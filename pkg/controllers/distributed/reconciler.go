// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/placement"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// Options are what a [Reconciler] is made of.
type Options struct {
	// Hub writes FederatedHPAs, and their status.
	Hub client.Client
	// Live reads workloads from the hub's API server itself.
	Live  client.Reader
	Fleet workload.Fleet
	// Placements says where workloads are placed by others. Nil: nobody places them.
	Placements placement.Source
	Ask        Asker
	// MemberTimeout bounds what is asked of, and what is told to, all members, side by side, for one object.
	MemberTimeout time.Duration
	// Grace is how long a cluster is silent before the others take its place over.
	Grace time.Duration
	// Window and Tolerance are those of scaling down where spec.behavior does not say: how long, and what part of its target
	// a metric may be away from it.
	Window    time.Duration
	Tolerance float64
	Clock     clock.PassiveClock
	Events    events.EventRecorder
	Metrics   *Metrics
}

// Asker asks the hub for one metric.
type Asker interface {
	Ask(ctx context.Context, question hubmetrics.Question) replicas.Metric
}

// Reconciler looks at one FederatedHPA of distributed mode after another.
type Reconciler struct {
	Options
	memories *memories
}

// New returns a reconciler, to be called by one leader at a time.
func New(o Options) *Reconciler { return &Reconciler{Options: o, memories: newMemories(o.Grace)} }

// Look brings the HorizontalPodAutoscalers in the members to what the object asks for, or away if it is being deleted.
// The object is ours to change, and has its defaults. A conflict means that it has been changed meanwhile, and is to be
// looked at again. Any other error has been said in the status or in an Event, if it is of interest to the object's owner.
func (r *Reconciler) Look(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if err := r.current(ctx, object); err != nil {
		return err
	}
	if object.DeletionTimestamp != nil {
		return r.release(ctx, object)
	}
	if err := r.bind(ctx, object); err != nil {
		return err
	}
	in := r.gather(ctx, object)
	step := decide(&in)
	if err := r.record(ctx, &in, &step); err != nil {
		return err
	}
	err := r.apply(ctx, &in, &step)
	r.memories.keep(object, &in)
	r.Metrics.looked(&in, &step)
	return err
}

// Forget forgets an object that is gone, or is not of distributed mode any more.
func (r *Reconciler) Forget(key client.ObjectKey) {
	r.memories.forget(key)
	r.Metrics.forget(key)
}

const (
	// action is what Events say was being done.
	action = "Distribute"
	// fieldManager owns in managedFields what is written on the hub.
	fieldManager = workload.FieldManager
)

func (r *Reconciler) event(object *v1alpha1.FederatedHPA, kind, reason, message string) {
	r.Events.Eventf(object, nil, kind, reason, action, "%s", summary.Brief(message, summary.LongestNote))
}

func (r *Reconciler) warn(object *v1alpha1.FederatedHPA, reason, message string) {
	r.event(object, corev1.EventTypeWarning, reason, message)
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Options configure a [Mode].
type Options struct {
	// Live reads from the hub's API server itself.
	Live     client.Reader
	Fleet    *sight.Reader
	Recorder *record.Recorder
	Ask      Asker
	// Grace is how long a cluster is silent before the others take its place over.
	Grace time.Duration
	// Hub is the one that removes autoscalers whose object is gone; see [v1alpha1.RemovedByAnnotation]. Nil: none does.
	Hub func() string
	// Rest and WindowStep are those of [assignment.Snapshot].
	Rest, WindowStep time.Duration
	// DeletionGrace is how long a deletion waits for clusters.
	DeletionGrace time.Duration
	// CreateWorkloads: a cluster that lacks the workload gets it from the hub, where its registration allows that too.
	CreateWorkloads bool
	// Window and Tolerance are those of scaling down where spec.behavior does not say: how long, and what part of its target
	// a metric may be away from it.
	Window    time.Duration
	Tolerance float64
	Metrics   *Metrics
	// Records is handed the record of each decision; nil: none is made.
	Records Records
}

// Records keeps records, which no longer change. Nobody waits for it.
type Records interface {
	Record(r *recording.Record)
}

func (o *Options) usual() assignment.Usual {
	return assignment.Usual{Window: o.Window, Tolerance: o.Tolerance}
}

// Asker asks the hub for one metric.
type Asker interface {
	Ask(ctx context.Context, question hubmetrics.Question) replicas.Metric
}

// Mode is the distributed mode of FederatedHPAs.
type Mode struct{ Options }

// New returns the mode.
func New(o Options) *Mode { return &Mode{o} }

// Reconcile brings the HorizontalPodAutoscalers in the members to what the object asks for, or away if it is being deleted.
// The object is ours to change, and has its defaults and, if it is being deleted, what it had lost; memory is what is known of it. A
// conflict means that the object was changed meanwhile, and is to be reconciled again. Any other error was reported in the status or
// in an Event, if it is of interest to the object's owner.
func (m *Mode) Reconcile(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) error {
	if err := m.refresh(ctx, object, memory); err != nil {
		return err
	}
	if object.DeletionTimestamp != nil {
		return m.release(ctx, object, memory)
	}
	observes := object.Spec.Mode == v1alpha1.ModeObserve
	if !observes { // who makes nothing in members has nothing to take away there
		if err := m.Recorder.Bind(ctx, object); err != nil {
			return err
		}
	}
	in := m.gather(ctx, object, memory)
	plan := decide(in)
	if m.Records != nil && plan.fault == nil {
		m.Records.Record(plan.record(memory.recorded.Of(object)))
	}
	if err := m.record(ctx, plan, &memory.explained); err != nil {
		return err
	}
	if observes {
		return nil
	}
	err := m.apply(ctx, &plan)
	m.Metrics.setBack(&plan, memory)
	memory.keep(&plan, m.Grace)
	m.Metrics.reconciled(plan, memory)
	return err
}

// Forget drops the metrics of an object that was deleted, or switched to central mode.
func (m *Mode) Forget(key client.ObjectKey, memory *Memory) {
	m.Metrics.forget(memory)
	*memory = Memory{}
}

// refresh makes the object the one that the hub stores, if this is the first reconcile of it: what a cache shows may be from
// before the last write of a former leader, and what it says of bounds is then no longer true.
func (m *Mode) refresh(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) error {
	if memory.refreshed {
		return nil
	}
	err := m.reread(ctx, object)
	memory.refreshed = err == nil
	return err
}

// reread makes the object the one that the hub stores, which it asks.
func (m *Mode) reread(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	uid, distributed := object.UID, object.Distributed()
	err := m.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	switch {
	case apierrors.IsNotFound(err), err == nil && object.UID != uid:
		return record.Conflict(object, "it has been deleted")
	case err != nil:
		return fmt.Errorf("reading it from the hub itself: %w", err)
	}
	m.Recorder.Saw(object)
	switch { // before the defaults, which would hide what was dropped
	case object.DeletionTimestamp != nil:
		served.Restore(object) // what it has lost holds for its end too
	case len(served.Cut(object)) > 0:
		return record.Conflict(object, "it has lost fields")
	}
	v1alpha1.DefaultFederatedHPA(object)
	if object.Distributed() != distributed {
		return record.Conflict(object, "its mode has been changed")
	}
	return nil
}

// action is the action of Events.
const action = "Distribute"

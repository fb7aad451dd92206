// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
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
// The object is ours to change, and has its defaults; memory is what is known of it. A conflict means that the object was
// changed meanwhile, and is to be reconciled again. Any other error was reported in the status or in an Event, if it is of
// interest to the object's owner.
func (m *Mode) Reconcile(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) error {
	if err := m.refresh(ctx, object, memory); err != nil {
		return err
	}
	if object.DeletionTimestamp != nil {
		return m.release(ctx, object, memory)
	}
	if err := m.Recorder.Bind(ctx, object); err != nil {
		return err
	}
	in := m.gather(ctx, object, memory)
	plan := decide(in)
	if err := m.record(ctx, plan); err != nil {
		return err
	}
	if object.Spec.Mode == v1alpha1.ModeObserve {
		return nil
	}
	outcome, err := m.apply(ctx, plan)
	memory.keep(outcome, m.Grace)
	m.Metrics.reconciled(plan, memory)
	return err
}

// Keep leaves an object and its autoscalers as they are that has lost its mode, as [served.Cut] says, and reports it in the
// status, in an Event and in the log. It continues by itself once the field is there again.
func (m *Mode) Keep(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if err := m.reread(ctx, object); err != nil { // a cache may show what the hub hid for a while
		return err
	}
	lost := served.Cut(object)
	if len(lost) == 0 {
		return record.Conflict(object, "its fields have been restored")
	}
	message := cutMessage(lost)
	if summary.Condition(&object.Status, autoscalingv2.AbleToScale).Message != message {
		klog.FromContext(ctx).Info("Detected dropped fields of FederatedHPA, so its autoscalers are left unchanged", "lost", lost)
	}
	return m.rest(ctx, object, &fault{reason: reasonSpecCut, message: message})
}

func cutMessage(lost []string) string {
	return fmt.Sprintf("dropped without an edit: spec.%s. The hub drops fields that its schema of the kind lacks, as Karmada's does. "+
		"The HorizontalPodAutoscalers in the clusters are left unchanged, and nothing is scaled from the hub. Apply the manifest of this "+
		"FederatedHPA again; to do without a field, set it once more and then remove it", strings.Join(lost, ", spec."))
}

// Forget drops the metrics of an object that was deleted, or switched to central mode.
func (m *Mode) Forget(key client.ObjectKey, memory *Memory) {
	m.Metrics.show(key, memory, nil)
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
	v1alpha1.DefaultFederatedHPA(object)
	if object.Distributed() != distributed {
		return record.Conflict(object, "its mode has been changed")
	}
	return nil
}

// action is the action of Events.
const action = "Distribute"

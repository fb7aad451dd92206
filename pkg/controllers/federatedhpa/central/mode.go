// SPDX-License-Identifier: Apache-2.0

package central

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Options configure a [Mode].
type Options struct {
	// Hub reads other autoscalers from a cache.
	Hub client.Reader
	// Live reads workloads from the hub's API server itself.
	Live client.Reader
	// Scales reads and writes the scale subresource of what Mapper finds.
	Scales   scale.ScalesGetter
	Mapper   meta.RESTMapper
	Fleet    *sight.Reader
	Recorder *record.Recorder
	Ask      Asker
	// PropagationGrace is for how long members need not follow the workload on the hub.
	PropagationGrace time.Duration
	Decision         replicas.Options
	Metrics          *Metrics
	// Records is handed the record of each decision; nil: none is made.
	Records Records
}

// Records keeps records, which no longer change. Nobody waits for it.
type Records interface {
	Record(r *recording.Record)
}

// Asker asks the hub for one metric.
type Asker interface {
	Ask(ctx context.Context, question hubmetrics.Question) replicas.Metric
}

// Mode is the central mode of FederatedHPAs.
type Mode struct {
	Options
	selectors *selectors
}

// New returns the mode.
func New(o Options) *Mode { return &Mode{o, newSelectors()} }

// Reconcile scales one workload to what its load requires, and reports why in the status. The object has its
// defaults; memory is what is known of it. An error was reported in the status and in an Event, if it concerns the
// object's owner.
func (m *Mode) Reconcile(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) error {
	started := m.Fleet.Clock.Now()
	in := m.gather(ctx, object, memory)
	if in.undone.Reason == "" && in.takesOver() {
		if err := m.TellHub(ctx, object); err != nil {
			return err
		}
		in = m.gather(ctx, object, memory)
	}
	if in.undone.Reason != "" {
		return m.Recorder.Refuse(ctx, object, in.undone.Reason, in.undone.Message, action, in.Now)
	}
	plan := decide(in)
	if m.Records != nil {
		plan.recorded = plan.record(memory.recorded.Of(object)) // before the clusters' scales are written, of which it is made
	}
	outcome := m.apply(ctx, plan)
	memory.keep(&outcome)
	err := m.record(ctx, &outcome, memory)
	m.Metrics.reconciled(&outcome, memory, err, m.Fleet.Clock.Since(started))
	return cmp.Or(err, outcome.Err)
}

// Forget drops the state and metrics of an object that was deleted, or switched to distributed mode.
func (m *Mode) Forget(key client.ObjectKey, memory *Memory) {
	m.selectors.forget(key)
	m.Metrics.forget(key, memory)
	*memory = Memory{}
}

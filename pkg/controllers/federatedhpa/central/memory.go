// SPDX-License-Identifier: Apache-2.0

package central

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Memory is what is known of an object from one reconcile to the next. What of it must outlive the program is in the status,
// with which the zero value begins.
type Memory struct {
	// learned: state is known; until then it is that of the status.
	learned bool
	state   replicas.State
	// Moved are replicas that run in two clusters, by the one that they move to. Who does not know of them takes some away.
	Moved map[string]int32
	// assigned are what the clusters were told, by name: the status knows of the last write only if it could be stored.
	assigned map[string]int32
	// propagation is how the clusters followed the hub.
	propagation propagation
	// absences are of the clusters that lack the workload.
	absences absences
	// selector is what selected was parsed to.
	selector labels.Selector
	selected string
	// fights are the replicas that were written, by the cluster; on the hub, without one.
	fights map[string]fight
	// unseen are the clusters that the metrics show as not visible; counted: the metrics count the object.
	unseen    []replicas.Unseen
	counted   bool
	explained explanation.Memory
	// recorded is the spec in records.
	recorded record.Spec
}

// parse returns what a selector selects, which is as a rule what it was the last time; nil: it is none.
func (m *Memory) parse(text string) labels.Selector {
	if m.selector == nil || m.selected != text {
		m.selector, _ = labels.Parse(text)
		m.selected = text
	}
	return m.selector
}

// recall returns the state of an object whose workload has so many replicas.
func (m *Memory) recall(object *v1alpha1.FederatedHPA, current int32, now time.Time) replicas.State {
	if m.learned {
		return m.state
	}
	return recall(object.Status.Stabilization, current, now)
}

// told returns how many replicas a cluster was told to run.
func (m *Memory) told(c *selection.Cluster) *int32 {
	if n, known := m.assigned[c.Facts.Name]; known {
		return &n
	}
	return c.Before.AssignedReplicas
}

// keep stores what the next reconcile must know of this one. Where the workload could not be read, little was learned.
func (m *Memory) keep(o *outcome) {
	m.propagation, m.absences = o.propagation, o.absences
	if o.scale.Err != nil {
		return
	}
	m.fought(o)
	m.learned, m.state, m.Moved, m.assigned = true, o.State, nil, nil
	if o.division == nil {
		return
	}
	m.Moved, m.assigned = o.moving(), map[string]int32{}
	for i := range o.parts {
		if n := o.assigned(&o.parts[i]); n != nil {
			m.assigned[o.parts[i].Facts.Name] = *n
		}
	}
}

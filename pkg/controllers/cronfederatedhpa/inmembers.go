// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// inMembers is a workload that the hub lacks, and clusters have. Its replicas are those of all of them together.
type inMembers struct {
	// object names the workload, and says how its replicas are divided.
	object   *v1alpha1.CronFederatedHPA
	clusters []selection.Cluster
	memory   *fleetMemory
	timeout  time.Duration
}

// fleetMemory is what is known of the clusters from one reconcile to the next. It is not stored.
type fleetMemory struct {
	// replicas are those that each cluster was told, or said, last. A silent one has them still.
	replicas map[string]int32
	// planned are what clusters are to run for a total, by the spec of a generation, some of which could not be told yet: they keep their
	// part.
	planned    map[string]int32
	total      int32
	plannedFor int64
	// unplaced are those of the total that no cluster may get.
	unplaced int32
	// before is what the clusters specified in all before the hub was told; nil: not known.
	before *int32
	// absence is of a workload that was found nowhere, by the spec of a generation.
	absence    workload.Absence
	generation int64
}

// remembered is what is known of one object from one reconcile to the next.
type remembered struct {
	// delay is why runs that are due have not been done yet. It is not stored: a program that starts tries again.
	delay *cronplan.Delay
	fleet fleetMemory
	doubt served.Doubt
	// cut: the object has lost fields.
	cut bool
}

func (t inMembers) state() cronplan.Target {
	total, silent := int64(0), []string{}
	has := 0
	for _, c := range t.parts() {
		total += int64(c.Current)
	}
	for _, c := range t.clusters {
		switch {
		case c.Scale != nil:
			has++
		case c.Silence != nil:
			silent = append(silent, c.Facts.Name)
		}
	}
	where := fmt.Sprintf(" in %d clusters", has)
	if has == 1 {
		where = " in 1 cluster"
	}
	if len(silent) > 0 {
		where += fmt.Sprintf(" (%s did not answer)", few(silent, ", "))
	}
	return cronplan.Target{
		Checked: true, Has: cronplan.Values{cronplan.Replicas: new(int32(min(total, math.MaxInt32)))},
		ScaledThere: conflicts(t.object, t.clusters), Where: where,
	}
}

// parts are the clusters that count: a silent one has what it had last, and otherwise nothing is known to run there.
func (t inMembers) parts() []assignment.Cluster {
	var parts []assignment.Cluster
	for _, c := range t.clusters {
		name := c.Facts.Name
		switch {
		case c.Scale != nil:
			part := assignment.Cluster{Name: name, Preference: c.Preference, Current: c.Scale.Spec.Replicas, Capacity: capacity(&c)}
			parts = append(parts, part.Under(c.Standing.Standing))
		case c.Silence != nil && !c.Drained(): // others run what a silent one ran that is drained
			parts = append(parts, assignment.Cluster{Name: name, Current: t.memory.replicas[name], Held: true})
		}
	}
	return parts
}

// capacity is how many replicas the cluster can host in all, as if none waited for a node; nil: that is not known.
func capacity(c *selection.Cluster) *int32 {
	if c.Additional == nil {
		return nil
	}
	return new(int32(min(int64(c.Scale.Spec.Replicas)+int64(*c.Additional), math.MaxInt32)))
}

// set tells each cluster its part: those that gain first. One that cannot be told is told when the run is retried; the others do not make
// up for it, or both would run its replicas.
func (t inMembers) set(ctx context.Context, v cronplan.Values) error {
	total, m := *v[cronplan.Replicas], t.memory
	if m.planned == nil || m.total != total || m.plannedFor != t.object.Generation || !t.fits() {
		divided := assignment.Divide(t.object.Spec.ReplicaDistribution, string(t.object.UID), total, t.parts())
		m.planned, m.total, m.plannedFor, m.unplaced = divided.Replicas, total, t.object.Generation, divided.Unplaced
	}
	var gains, losses []write
	for i, c := range t.clusters {
		if c.Scale == nil {
			continue
		}
		switch w := (write{Cluster: &t.clusters[i], to: t.memory.planned[c.Facts.Name]}); {
		case w.to > c.Scale.Spec.Replicas:
			gains = append(gains, w)
		case w.to < c.Scale.Spec.Replicas:
			losses = append(losses, w)
		}
	}
	var failed faults
	for _, writes := range [][]write{gains, losses} {
		workload.Each(ctx, t.timeout, writes, func(ctx context.Context, w *write) {
			w.err = workload.SetReplicas(ctx, w.Member, t.object.Spec.ScaleTargetRef, w.Scale, w.to)
		})
		for _, w := range writes {
			if w.err != nil {
				failed = append(failed, fmt.Errorf("cluster %s: %w", w.Facts.Name, w.err))
				continue
			}
			t.memory.replicas[w.Facts.Name] = w.to
			klog.FromContext(ctx).Info("Set the replicas", "cluster", w.Facts.Name, "from", w.Scale.Spec.Replicas, "to", w.to)
		}
	}
	if len(failed) > 0 {
		return failed
	}
	t.memory.planned = nil // a retry for want of clusters divides again: one may no longer be cordoned
	if n := t.memory.unplaced; n > 0 {
		return fmt.Errorf("%d of %d replicas have no cluster: all that have the workload are cordoned, drained or at their "+
			"autoscalingMaxThreshold", n, total)
	}
	return nil
}

// write is what one cluster is to be told.
type write struct {
	*selection.Cluster
	to  int32
	err error
}

// fits reports whether the plan is for the clusters that there are.
func (t inMembers) fits() bool {
	parts := t.parts()
	for _, p := range parts {
		n, planned := t.memory.planned[p.Name]
		if !planned || p.Held && n != p.Current {
			return false
		}
	}
	return len(parts) == len(t.memory.planned)
}

// learn notes what clusters have.
func (m *fleetMemory) learn(clusters []selection.Cluster) {
	known := maps.Clone(m.replicas)
	m.replicas = map[string]int32{}
	for _, c := range clusters {
		name := c.Facts.Name
		if c.Scale != nil {
			m.replicas[name] = c.Scale.Spec.Replicas
		} else if n, before := known[name]; c.Silence != nil && before {
			m.replicas[name] = n
		}
	}
}

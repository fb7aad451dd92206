// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

const (
	// steadyReconciles is for how many reconciles an autoscaler must have desired what runs to count as steady.
	steadyReconciles = 2
	// unseenFor is how long what we wrote may be unknown to the watch that should tell of it.
	unseenFor = 30 * time.Second
)

// Memory is what is known of an object from one reconcile to the next. Nothing is lost with it but some time: the zero value
// begins with what the status says.
type Memory struct {
	// refreshed: the object was read from the hub itself since this program began.
	refreshed bool
	clusters  map[string]clusterMemory
	split     split
	// waiting are the clusters that a deletion, or a change of modes, was last said to wait for.
	waiting   []string
	explained explanation.Memory
	// recorded is the spec in records.
	recorded record.Spec
	// counted: the metrics count the object.
	counted bool
}

// split is a split of the bounds for a spec while some clusters kept theirs; zero: there was none.
type split struct {
	generation int64
	without    []string
}

// clusterMemory is what is known of one cluster of an object.
type clusterMemory struct {
	// written and removed are the autoscaler that we wrote or deleted last, at that time: what is read may be from before.
	written, removed *autoscalingv2.HorizontalPodAutoscaler
	at               time.Time
	// refused and balked are how the last writes of bounds, and of replicas, failed.
	refused, balked refusal
	// recovered: it takes what it had refused for so long that the others no longer waited for it, or it is no longer cordoned or drained.
	recovered bool
	trial     trial
	steady    int
	cleared   bool
	setbacks
}

// trial is when a cluster was last found, by asking, to take what it had refused, and for how long it is not asked again if
// that had no success: what takes a dry run need not take the same in earnest.
type trial struct {
	at    time.Time
	pause time.Duration
}

func (t trial) lately(now time.Time) bool { return now.Sub(t.at) < t.pause }

// then is the trial after a reconcile in which the cluster was found to take it, or not. Each is followed by a longer pause.
func (t trial) then(accepted bool, now time.Time, grace time.Duration) trial {
	switch {
	case accepted:
		return trial{now, 2 * max(grace, t.pause)}
	case now.Sub(t.at) >= 4*t.pause:
		return trial{}
	default:
		return t
	}
}

// refusal is that a cluster did not take what was written to it; zero: it did.
type refusal struct {
	message string
	// since is when it was refused for the first time in a row, and last for the last time.
	since, last time.Time
}

// holds: it would be refused again, for all we know. Where nothing was to be written for as long as it was refused before,
// and for the grace at least, it is worth another try.
func (f refusal) holds(now time.Time, grace time.Duration) bool {
	return f.message != "" && now.Sub(f.last) < max(grace, f.last.Sub(f.since))
}

// then is the refusal after a reconcile in which something was refused again, or was accepted, or still waits for other
// clusters. The message stays, as those of some errors are never the same.
func (f refusal) then(failure string, failed, took, waits bool, now time.Time, grace time.Duration) refusal {
	switch {
	case failed && (f.message == "" || f.last.Sub(f.since) < grace && now.Sub(f.last) >= grace):
		return refusal{failure, now, now}
	case failed:
		f.last = now
	case took, now.Sub(f.last) >= 4*max(grace, f.last.Sub(f.since)):
		return refusal{}
	case waits:
		f.last = now
	}
	return f
}

// of returns what is remembered of a cluster. What was written long ago is seen by now.
func (m *Memory) of(cluster string, now time.Time) clusterMemory {
	known := m.clusters[cluster]
	if now.Sub(known.at) >= unseenFor {
		known.written, known.removed = nil, nil
	}
	return known
}

// resume fills in what is not known of a cluster that refused before this program began, or where bounds were set back, and that the
// others no longer wait for: what it has is its assignment. Bounds that were set back are written again, so it gets its part for that.
func (m *Memory) resume(sites []site, now time.Time, grace time.Duration) {
	for s := range sight.Pointers(sites) {
		if _, seen := m.clusters[s.Facts.Name]; seen || s.stands() != s.last.Max {
			continue
		}
		switch s.Before.Reason {
		case reasonFailedWrite:
			s.refuses(refusal{s.Before.Message, now.Add(-grace), now}, refusal{}, now, grace)
		case record.ReasonScaleUndone:
			s.recovered = true
		}
	}
}

// keep stores what the next reconcile must know of this one.
func (m *Memory) keep(p *plan, grace time.Duration) {
	if p.fault != nil {
		return
	}
	clusters := make(map[string]clusterMemory, len(p.sites))
	for s := range sight.Pointers(p.sites) {
		clusters[s.Facts.Name] = s.remembered(m.clusters[s.Facts.Name], p.Now, grace)
	}
	m.clusters, m.split = clusters, split{}
	if p.step.Incomplete {
		m.split = split{p.Object.Generation, p.keeping()}
	}
}

func (s *site) remembered(before clusterMemory, now time.Time, grace time.Duration) clusterMemory {
	c := clusterMemory{
		written: s.written, removed: s.removed, at: before.at, cleared: s.cleared && s.own == nil,
		refused:   s.refused.then(s.failure, s.failed.bounds, s.took.bounds, s.blocked, now, grace),
		balked:    s.balked.then(s.failure, s.failed.scale, s.took.scale, false, now, grace),
		recovered: s.accepted || s.recovered, setbacks: s.setbacks,
	}
	c.trial = s.trial.then(s.accepted && !s.failed.bounds, now, grace)
	if s.failed.bounds && s.refused.message == "" && s.trial.lately(now) { // once is enough to know that it had no success
		c.refused.since = now.Add(-grace)
	}
	if s.written != before.written || s.removed != before.removed {
		c.at = now
	}
	if s.inSight() && s.own != nil && s.Scale != nil && s.own.Status.DesiredReplicas == s.Scale.Spec.Replicas {
		c.steady = s.steady + 1
	}
	return c
}

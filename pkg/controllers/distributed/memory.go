// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	// steadyLooks is for how many looks an autoscaler must have desired what runs to count as steady.
	steadyLooks = 2
	// unseenFor is how long what we wrote may be unknown to the watch that should tell of it.
	unseenFor = 30 * time.Second
)

// memories are what is known of objects from one look to the next. Nothing is lost with them but some time: an object
// that is not known begins with what its status says.
type memories struct {
	grace time.Duration
	mu    sync.Mutex
	byKey map[client.ObjectKey]remembered
}

// remembered is what is known of one object; another one of the same name has another.
type remembered struct {
	uid types.UID
	// wrote is the resource version that our last write of the object made.
	wrote    string
	clusters map[string]clusterMemory
}

// clusterMemory is what is known of one cluster of an object.
type clusterMemory struct {
	// written and removed are the autoscaler that we wrote or deleted last, at that time: what is read may be from before.
	written, removed *autoscalingv2.HorizontalPodAutoscaler
	at               time.Time
	// refused and balked are how the last writes of bounds, and of replicas, failed.
	refused, balked refusal
	// recovered: it takes what it had refused for so long that the others did not wait for it any more.
	recovered bool
	trial     trial
	steady    int
	cleared   bool
}

// trial is when a cluster was last found, by asking, to take what it had refused, and for how long it is not asked again if
// that was in vain: what takes a dry run need not take the same in earnest.
type trial struct {
	at    time.Time
	pause time.Duration
}

func (t trial) lately(now time.Time) bool { return now.Sub(t.at) < t.pause }

// then is the trial after a look in which the cluster was found to take it, or not. Each is followed by a longer pause.
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

// then is the refusal after a look in which something was refused again, or was taken, or still waits for other clusters. The
// message stays, as those of some errors are never the same.
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

func newMemories(grace time.Duration) *memories {
	return &memories{grace: grace, byKey: map[client.ObjectKey]remembered{}}
}

func (m *memories) of(object *v1alpha1.FederatedHPA) (remembered, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byKey[client.ObjectKeyFromObject(object)]
	if known.uid != object.UID {
		return remembered{}, false
	}
	return known, true
}

// remind notes what is known of the clusters of an object.
func (m *memories) remind(object *v1alpha1.FederatedHPA, sites []site, now time.Time) {
	known, _ := m.of(object)
	for i := range sites {
		s := &sites[i]
		c := known.clusters[s.facts.Name]
		s.steady, s.cleared = c.steady, c.cleared
		if now.Sub(c.at) < unseenFor {
			s.written, s.removed = c.written, c.removed
		}
		s.refuses(c.refused, c.balked, now, m.grace)
		s.recovered, s.trial = c.recovered, c.trial
	}
}

// resume makes up for what is not known of a cluster that refused before this program began, and that the others do not wait
// for any more: what it has is what it is to have.
func (m *memories) resume(object *v1alpha1.FederatedHPA, sites []site, now time.Time) {
	known, _ := m.of(object)
	for i := range sites {
		s := &sites[i]
		if _, seen := known.clusters[s.facts.Name]; seen || s.before.Reason != reasonFailedWrite || s.stands(object) != value(s.before.AssignedMax) {
			continue
		}
		s.refuses(refusal{s.before.Message, now.Add(-m.grace), now}, refusal{}, now, m.grace)
	}
}

// keep keeps what the next look must know of this one.
func (m *memories) keep(object *v1alpha1.FederatedHPA, in *situation) {
	if in.fault != nil {
		return
	}
	before, _ := m.of(object)
	clusters := make(map[string]clusterMemory, len(in.sites))
	for i := range in.sites {
		s := &in.sites[i]
		clusters[s.facts.Name] = s.remembered(before.clusters[s.facts.Name], in.now, m.grace)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byKey[client.ObjectKeyFromObject(object)]
	known.uid, known.clusters = object.UID, clusters
	m.byKey[client.ObjectKeyFromObject(object)] = known
}

func (s *site) remembered(before clusterMemory, now time.Time, grace time.Duration) clusterMemory {
	c := clusterMemory{
		written: s.written, removed: s.removed, at: before.at, cleared: s.cleared && s.own == nil,
		refused:   s.refused.then(s.failure, s.failed.bounds, s.took.bounds, s.blocked, now, grace),
		balked:    s.balked.then(s.failure, s.failed.scale, s.took.scale, false, now, grace),
		recovered: s.accepted || s.recovered,
	}
	c.trial = s.trial.then(s.accepted && !s.failed.bounds, now, grace)
	if s.failed.bounds && s.refused.message == "" && s.trial.lately(now) { // once is enough to know that it was in vain
		c.refused.since = now.Add(-grace)
	}
	if s.written != before.written || s.removed != before.removed {
		c.at = now
	}
	if s.inSight() && s.own != nil && s.scale != nil && s.own.Status.DesiredReplicas == s.scale.Spec.Replicas {
		c.steady = s.steady + 1
	}
	return c
}

// wrote notes that the object was written.
func (m *memories) wrote(after *v1alpha1.FederatedHPA) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byKey[client.ObjectKeyFromObject(after)]
	if known.uid != after.UID {
		known = remembered{uid: after.UID}
	}
	known.wrote = after.ResourceVersion
	m.byKey[client.ObjectKeyFromObject(after)] = known
}

func (m *memories) forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}

// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// Pass is what one reconcile saw of an object.
type Pass struct {
	// At is when the clusters were asked, by our own clock.
	At time.Time
	// Uses are of all clusters that count, whether they answered or not.
	Uses []hubmetrics.ClusterUses
	// Pods are those of the workload, by cluster.
	Pods map[string]pods.SizedListing
	// Containers are those of the workload. Of others, which a cluster may make up, nothing new is kept. Nil: all are its own.
	Containers []string
}

// Fed is what became of a pass in one cluster.
type Fed struct {
	Cluster string
	// Silent is true if the cluster did not say what its Pods use, or which Pods it has now: then no advice becomes less.
	Silent bool
	// Samples were added; Repeats are those that were added before.
	Samples, Repeats int
	// Ignored is how many containers were left out, because more are kept of the object already than can be.
	Ignored int
	// Kills are those that were not seen before.
	Kills []Kill
}

// Kill is one of a container that needed more memory than it had.
type Kill struct{ Pod, Container string }

// Feed adds what a reconcile saw, and forgets what is gone. There is an entry for each cluster of the pass, in order of their names.
// The order of what is in a pass makes no difference.
func (s *Store) Feed(owner Owner, p Pass) ([]Fed, error) {
	m, err := s.locked(owner)
	if err != nil {
		return nil, fmt.Errorf("recording what %v uses: %w", owner, err)
	}
	defer m.mu.Unlock()
	return m.feed(p), nil
}

func (m *memory) feed(p Pass) []Fed {
	m.fed = p.At
	for _, s := range m.shares {
		s.asked = false
	}
	room := m.room()
	room.containers = p.Containers
	all := make([]Fed, 0, len(p.Uses))
	for _, u := range sorted(p.Uses, byCluster) {
		s := m.shareOf(u.Cluster)
		s.asked = true
		all = append(all, s.feed(p.At, u, p.Pods[u.Cluster], &room))
	}
	for _, f := range all {
		m.dirty = m.dirty || f.Samples > 0 || len(f.Kills) > 0
		if len(f.Kills) > 0 {
			m.urgent, m.killed = true, p.At
		}
	}
	for _, s := range m.shares {
		if !s.asked {
			s.forget(p.At, false)
		}
		if s.expire(p.At) {
			m.dirty = true
		}
	}
	m.shares = slices.DeleteFunc(m.shares, func(s *share) bool { return !s.asked && len(s.containers) == 0 })
	return all
}

// room is how much more may be kept of an object.
type room struct {
	uses, instances int
	containers      []string  // as in a Pass
	saved           time.Time // when the history was that was loaded; zero: there was none
}

func (m *memory) room() room {
	left := room{uses: mostUses, instances: mostInstances, saved: m.before}
	for _, s := range m.shares {
		left.uses -= len(s.containers)
		left.instances -= len(s.instances)
	}
	return left
}

func (r *room) admits(container string) bool {
	return r.containers == nil || slices.Contains(r.containers, container)
}

// shareOf is that of a cluster. It is made if there is none.
func (m *memory) shareOf(cluster string) *share {
	at, found := slices.BinarySearchFunc(m.shares, cluster, func(s *share, cluster string) int { return cmp.Compare(s.cluster, cluster) })
	if !found {
		m.shares = slices.Insert(m.shares, at, &share{cluster: cluster})
	}
	return m.shares[at]
}

func byCluster(a, b hubmetrics.ClusterUses) int { return cmp.Compare(a.Cluster, b.Cluster) }

func byPod(a, b hubmetrics.PodUses) int { return cmp.Compare(a.Name, b.Name) }

func byListed(a, b pods.SizedPod) int { return cmp.Compare(a.Name, b.Name) }

func byContainer(a, b hubmetrics.ContainerUse) int { return cmp.Compare(a.Name, b.Name) }

// sorted are nearly always in order already. Sums of weights depend on it, by a little.
func sorted[T any](all []T, order func(a, b T) int) []T {
	if slices.IsSortedFunc(all, order) {
		return all
	}
	return slices.SortedStableFunc(slices.Values(all), order)
}

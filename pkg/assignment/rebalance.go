// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"
	"time"
)

// MoveInterval is both how long clusters must be far from their shares before replicas are moved, and the least time
// between two moves. A replica that is not Ready after it is taken back.
const MoveInterval = 300 * time.Second

// movedPart of all replicas is what clusters may be away from their shares, and what one move comes to.
const movedPart = 10

// RebalanceQuestion is how running replicas may move towards the clusters' shares.
type RebalanceQuestion struct {
	UID          string    // of the FederatedHPA; decides among equals
	Total        int32     // as it was distributed
	Clusters     []Cluster // all that took part in the distribution, in any order; those Held stay as they are
	Distribution Distribution
	// DriftingSince and LastMove are what the last answer said of them; at first nil.
	DriftingSince *time.Time
	LastMove      *time.Time
	Now           time.Time
}

// Rebalancing is what the clusters that are not Held are to run, instead of what the distribution wanted.
type Rebalancing struct {
	Replicas map[string]int32
	// Moved are those of Replicas, by cluster, that run beyond the total: they have been added where they are to be, are not
	// Ready yet, and as many still run where they are to be taken away. Nil: none.
	Moved map[string]int32
	// DriftingSince is since when the clusters have been far from their shares; nil: they are not.
	DriftingSince *time.Time
	// LastMove is when replicas were last moved, there or back; nil: never.
	LastMove *time.Time
}

// Rebalance moves replicas from clusters that run more than their share to those that run less. It adds first, at most a
// tenth of the total (at least one) at a time, and takes one away for each of them that is Ready. Those that are not Ready
// within [MoveInterval] are taken back. What the distribution wants, because the total or a limit changed, is done at once.
func Rebalance(q RebalanceQuestion) Rebalancing {
	m := newMover(q)
	m.settle()
	answer := Rebalancing{DriftingSince: m.driftingSince(), LastMove: q.LastMove}
	switch {
	case sum(m.moved) > 0 && passed(q.LastMove, q.Now):
		clear(m.moved)
		answer.LastMove = &q.Now
	case m.still && passed(answer.DriftingSince, q.Now) && (q.LastMove == nil || passed(q.LastMove, q.Now)):
		m.move()
		answer.LastMove = &q.Now
	}
	if sum(m.moved) > 0 {
		answer.Moved = m.named(m.moved)
	}
	for i := range m.x {
		m.x[i] += m.moved[i]
	}
	answer.Replicas = m.named(m.x)
	return answer
}

// passed: it is a whole interval ago.
func passed(since *time.Time, now time.Time) bool {
	return since != nil && now.Sub(*since) >= MoveInterval
}

// mover is a question made ready; its slices are in the order of the roster.
type mover struct {
	roster
	RebalanceQuestion
	x, target []int64 // what was distributed, and where it belongs
	moved     []int64 // what runs beyond it
	arrived   []int64 // of the moved ones, those that are Ready by now
	still     bool    // nothing has changed
}

func newMover(q RebalanceQuestion) mover {
	wanted := q.Distribution.Replicas
	clusters := slices.DeleteFunc(slices.Clone(q.Clusters), func(c Cluster) bool { return c.Held })
	for i := range clusters {
		clusters[i].Preference = Preference{} // it has had its part in the targets
	}
	m := mover{RebalanceQuestion: q, roster: newRoster(StaticWeighted, q.UID, clusters)}
	m.x = m.each(func(c Cluster) int64 { return int64(wanted[c.Name]) })
	m.target = m.each(func(c Cluster) int64 { return int64(q.Distribution.Targets[c.Name]) })
	m.moved = m.each(func(c Cluster) int64 { return int64(max(0, c.Moved)) })
	m.arrived = m.each(func(c Cluster) int64 { return int64(max(0, min(c.Moved, c.Ready-c.Current))) })
	m.still = !slices.ContainsFunc(clusters, func(c Cluster) bool { return wanted[c.Name] != c.Current || c.Moved > 0 })
	return m
}

// settle makes those that have arrived ordinary replicas, and takes one away for each where most are too many.
func (m *mover) settle() {
	for i, n := range m.arrived {
		m.moved[i] -= n
		m.x[i] += n
	}
	gone, _ := level(sum(m.arrived), minus(m.x, m.target), m.x)
	m.x = minus(m.x, gone)
}

// short returns how many replicas are not where they should be.
func (m *mover) short() (n int64) {
	for i := range m.x {
		n += max(0, m.target[i]-m.x[i])
	}
	return n
}

func (m *mover) driftingSince() *time.Time {
	switch {
	case m.short()*movedPart <= int64(m.Total):
		return nil
	case m.DriftingSince == nil:
		return &m.Now
	default:
		return m.DriftingSince
	}
}

// move adds replicas where most are missing.
func (m *mover) move() {
	missing := minus(m.target, m.x)
	m.moved, _ = level(max(1, int64(m.Total)/movedPart), missing, missing)
}

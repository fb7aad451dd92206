// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"cmp"
	"slices"
	"time"
)

// Past is what is remembered of a workload in one cluster from one reconcile to the next. The zero value remembers nothing. It
// holds no more than one entry for each Pod that is there, and for some sizes of nodes.
//
// It need not survive a restart. After one, as after a silence, a cluster counts as scaling for a minute. It evicts nothing until it
// was observed twice, and lets other clusters evict only once its Pods are Ready, or a while later. What is lost for good: that a
// node refused a size, which is tried once more on each Pod; an eviction that was refused; and that new Pods do not get their
// size, so two more may be evicted for nothing.
type Past struct {
	pods      map[string]*remembered // by UID; only those that were there the last time
	evicted   map[string]eviction    // by UID
	replacing map[string]time.Time   // by UID; new Pods that were not Ready yet, and until when they are waited for
	now       time.Time              // of the last time
	observed  int                    // how many times; no more than settled
	replicas  int
	unseen    bool      // the cluster was silent, so replicas may have moved and moved back
	scaled    time.Time // when replicas were seen to have changed
	refused   time.Time // when an eviction was, if none was accepted since
	effect    effect
	nodes     []nodeSize
}

// eviction is one that was sent.
type eviction struct {
	gone  bool      // the Pod is
	until time.Time // when that is no longer awaited
}

// remembered is what is remembered of a Pod.
type remembered struct {
	infeasible, node Amounts
	notBefore, alone time.Time
	asked            bool // a resize was sent, and is not known to be done
}

const (
	settled     = 2                // reconciles, before anything is evicted
	restless    = time.Minute      // after replicas changed
	wait        = 10 * time.Minute // for Pods that were not Ready when nothing was known of them, and for those that were evicted to go
	longest     = time.Hour        // for those that replace them to be Ready, before other clusters go on
	retry       = 5 * time.Minute  // of an eviction that was refused
	settling    = 10 * time.Second // until sizes that were written are known to all API servers of a cluster
	ineffective = 2                // new Pods in a row that did not get their size
)

// Observe takes note of what has become of a cluster's Pods, and tells the plan what it has to know. It is asked once in each
// reconcile, before [PlanMoves]. Nothing is learned of a cluster that is silent.
func (m *Past) Observe(c *ClusterPods, a Admission, policy Policy, now time.Time) {
	if c.Silent {
		m.unseen = true
		return
	}
	first := m.observed == 0
	if first || m.unseen || c.Replicas != m.replicas {
		m.replicas, m.scaled, m.unseen = c.Replicas, now, false
	}
	m.observed, m.now = min(settled, m.observed+1), now
	fresh := m.meet(c.Pods)
	m.follow(c, fresh, first, now)
	m.effect.observe(fresh, a, now)
	m.learn(c.Pods, policy, now)
	for n := range c.Pods {
		p := &c.Pods[n]
		k := m.pods[p.UID]
		p.Infeasible, p.NotBefore, p.Alone = k.infeasible, k.notBefore, k.alone
		_, p.Evicted = m.evicted[p.UID]
	}
	c.Admits = c.Admits && m.effect.admits(a, now)
	c.Scaling = c.Scaling || now.Sub(m.scaled) < restless
	c.Settled = m.observed >= settled
	c.Gone, c.Evicting, c.Refused = m.gone(), len(m.evicted)+len(m.replacing) > 0, m.refused
}

// meet forgets Pods that are gone, and returns those that are new, in the order of their UIDs.
func (m *Past) meet(pods []Running) (fresh []*Running) {
	known := make(map[string]*remembered, len(pods))
	for n := range pods {
		p := &pods[n]
		k := m.pods[p.UID]
		if k == nil {
			k = &remembered{infeasible: none(), node: p.Node}
			fresh = append(fresh, p)
		}
		known[p.UID] = k
	}
	m.pods = known
	slices.SortFunc(fresh, func(a, b *Running) int { return cmp.Compare(a.UID, b.UID) })
	return fresh
}

// follow follows evictions: from when they were sent until there are as many Pods as there should be, and new ones were Ready.
func (m *Past) follow(c *ClusterPods, fresh []*Running, first bool, now time.Time) {
	if m.replacing == nil {
		m.evicted, m.replacing = map[string]eviction{}, map[string]time.Time{}
	}
	for _, p := range fresh {
		switch {
		case first:
			m.replacing[p.UID] = now.Add(wait)
		case len(m.evicted)+len(m.replacing) > 0:
			m.replacing[p.UID] = now.Add(longest)
		}
	}
	for uid, e := range m.evicted {
		k := m.pods[uid]
		if e.gone = k == nil; !e.gone && !now.Before(e.until) {
			delete(m.evicted, uid)
			k.notBefore = now.Add(retry)
			continue
		}
		m.evicted[uid] = e
	}
	missing := max(0, c.Replicas-len(c.Pods))
	for uid, e := range m.evicted {
		if e.gone && m.gone() > missing {
			delete(m.evicted, uid) // whichever: only how many there are counts
		}
	}
	waited := map[string]time.Time{}
	for n := range c.Pods {
		p := &c.Pods[n]
		if until, waits := m.replacing[p.UID]; waits && !p.Ready && now.Before(until) {
			waited[p.UID] = until
		}
	}
	m.replacing = waited
}

func (m *Past) gone() (n int) {
	for _, e := range m.evicted {
		if e.gone {
			n++
		}
	}
	return n
}

// Sent takes note of a move that was accepted, or may have been: its answer was lost.
func (m *Past) Sent(move Move) {
	p := move.Pod
	k := m.pods[p.UID]
	switch {
	case k == nil:
	case move.Way == WayEvict:
		m.evicted[p.UID], m.refused = eviction{until: m.now.Add(wait)}, time.Time{}
	case move.Way == WayResize:
		k.asked = true
	default:
		k.infeasible, k.node, k.asked = p.requested(), p.Node, false
	}
}

// TooLarge takes note of a resize that was refused because the Pod's node has less for all Pods.
func (m *Past) TooLarge(move Move) {
	if k := m.pods[move.Pod.UID]; k != nil {
		k.infeasible, k.node = move.Pod.together(move.Resize), move.Pod.Node
	}
}

// Refused takes note of a move that was refused for another reason. After an eviction, as by a PodDisruptionBudget, the Pod is not
// evicted for a while; after a resize, as by a quota, nothing is done to it, since a new Pod might be refused as well.
func (m *Past) Refused(move Move, now time.Time) {
	switch k := m.pods[move.Pod.UID]; {
	case k == nil:
	case move.Way == WayEvict:
		k.notBefore, m.refused = now.Add(retry), now
	default:
		k.alone = now.Add(retry)
	}
}

// requested is what the Pod's spec requests together.
func (p *Running) requested() Amounts {
	r := Resize{}
	for n := range p.Containers {
		r.Containers = append(r.Containers, p.Containers[n].Resources)
	}
	return p.together(r)
}

// Ineffective reports whether new Pods do not get the size that is written.
func (m *Past) Ineffective() bool { return m.effect.bare >= ineffective }

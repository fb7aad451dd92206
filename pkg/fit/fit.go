// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"iter"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// Inventory is what there is in a cluster, on which the estimate rests. The order of nodes decides where Pods that wait are
// thought to go, and so does the order of Pods among those of one priority.
type Inventory struct {
	Nodes iter.Seq[*Node]
	// Pods are those of all namespaces; those that have ended make no difference. One may lie where the one before did.
	Pods iter.Seq[*Pod]
	// Quotas are those of the workload's namespace.
	Quotas []corev1.ResourceQuota
}

// Estimate returns how many replicas of the workload the cluster can run beside those that are bound: 0 or more, at most the
// greatest number of that type.
func Estimate(c Inventory, w Workload) int32 {
	r := newReplica(&w)
	rooms := newRooms(c.Nodes)
	rooms.settle(c.Pods, r.ours)
	n := r.fit(rooms, c.Pods)
	n = min(n, plus(r.headroom(c.Quotas), r.waiting(c.Pods)))
	return int32(min(n, math.MaxInt32))
}

// fit returns how many replicas find a node.
func (r *replica) fit(rooms *rooms, pods iter.Seq[*Pod]) int64 {
	spreads, ok := r.spreads()
	if !ok {
		return 0
	}
	shares := r.shares(rooms, spreads)
	n := sum(shares)
	for _, l := range r.apart(rooms, pods) {
		n = min(n, l.apply(shares))
	}
	for i := range spreads {
		l := spreads[i].limit(rooms, pods, shares)
		n = min(n, l.apply(shares))
	}
	return n
}

// shares are the nodes that take replicas, by room alone.
func (r *replica) shares(rooms *rooms, spreads []spread) []share {
	var shares []share
	for i := range rooms.all {
		room := &rooms.all[i]
		n := room.free.holds(r.requests)
		if n == 0 || !r.admits(room.Node) || len(spreads) > 0 && !hasAll(room.Node, spreads[0].keys) {
			continue
		}
		shares = append(shares, share{Node: room.Node, n: n})
	}
	return shares
}

// waiting returns how many replicas there are that have no node: quotas have been charged for them already.
func (r *replica) waiting(pods iter.Seq[*Pod]) int64 {
	n := int64(0)
	for p := range pods {
		if p.Waiting != nil && !p.Terminating && r.ours(p) {
			n++
		}
	}
	return n
}

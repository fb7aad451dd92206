// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"unique"
)

// room is a node and what is free on it.
type room struct {
	*Node
	free Amounts
}

// rooms are a cluster's nodes, in the order in which they were given.
type rooms struct {
	all []room
	at  map[unique.Handle[string]]int // where in all, by the node's name
}

func newRooms(nodes iter.Seq[*Node]) *rooms {
	r := &rooms{at: map[unique.Handle[string]]int{}}
	for n := range nodes {
		r.at[n.Name] = len(r.all)
		r.all = append(r.all, room{Node: n, free: n.Allocatable})
	}
	return r
}

// node returns where a Pod is bound; nil for one that waits or whose node is no longer there.
func (r *rooms) node(p *Pod) *room {
	at, found := r.at[p.Node]
	if !found {
		return nil
	}
	return &r.all[at]
}

// settle lets the Pods take their room: those that are bound, then those that wait and are not ours.
func (r *rooms) settle(pods iter.Seq[*Pod], ours func(*Pod) bool) {
	var waiting []Pod
	for p := range pods {
		switch room := r.node(p); {
		case room != nil:
			room.free.take(p.Requests)
		case p.Waiting != nil && !p.Waiting.Blocked && !ours(p):
			waiting = append(waiting, *p)
		}
	}
	slices.SortStableFunc(waiting, func(a, b Pod) int { return cmp.Compare(b.Waiting.Priority, a.Waiting.Priority) })
	r.firstFit(waiting)
}

// firstFit gives each Pod room on the first node that has it. A Pod like the one before begins where that one ended:
// room only gets less.
func (r *rooms) firstFit(waiting []Pod) {
	from := 0
	var admission *admission
	for i := range waiting {
		p := &waiting[i]
		if i == 0 || !alike(p, &waiting[i-1]) {
			from, admission = 0, p.Waiting.Constraints.admission()
		}
		for from < len(r.all) && (r.all[from].free.holds(p.Requests) == 0 || !admission.admits(r.all[from].Node)) {
			from++
		}
		if from < len(r.all) {
			r.all[from].free.take(p.Requests)
		}
	}
}

// alike reports whether the same nodes can take both Pods.
func alike(a, b *Pod) bool {
	return a.Requests == b.Requests && reflect.DeepEqual(a.Waiting.Constraints, b.Waiting.Constraints)
}

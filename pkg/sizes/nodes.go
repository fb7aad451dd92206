// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"slices"
	"time"
)

// nodeSize is what is known of the nodes of one size: kubelets may refuse what is less than all that is allocatable.
type nodeSize struct {
	node     Amounts
	refusals int     // in a row, of different Pods
	refused  Amounts // the least of these
	accepted Amounts // the most that Pods have there; zero before any is seen
}

const (
	refusals  = 3  // in a row, from which on a size counts as too large for such nodes
	nodeSizes = 32 // that are remembered
)

// learn takes note of what became of resizes.
func (m *Past) learn(pods []Running, policy Policy, now time.Time) {
	for n := range pods {
		p := &pods[n]
		k, asked := m.pods[p.UID], p.requested()
		if k.node != p.Node {
			k.infeasible, k.node = none(), p.Node
		}
		if p.Scheduled && p.Node != none() {
			switch size := m.sizeOf(p.Node); {
			case p.Resize == ResizeInfeasible && k.infeasible != asked:
				size.refuse(asked)
			case p.Resize == ResizeNone && p.done():
				size.accept(asked, k.asked)
				k.asked = false
			}
		}
		if p.stuck(policy, now) {
			k.infeasible, k.asked = asked, false
		}
	}
}

// done reports whether the containers have what they request.
func (p *Running) done() bool {
	return !slices.ContainsFunc(p.Containers, func(c RunningContainer) bool { return given(c.Actual.Requests, c.Requests) != c.Requests })
}

// sizeOf is what is known of nodes of a size. For a new one the oldest is forgotten, if there are many.
func (m *Past) sizeOf(node Amounts) *nodeSize {
	n := slices.IndexFunc(m.nodes, func(s nodeSize) bool { return s.node == node })
	if n < 0 {
		m.nodes = append(m.nodes[max(0, len(m.nodes)+1-nodeSizes):], nodeSize{node: node})
		n = len(m.nodes) - 1
	}
	return &m.nodes[n]
}

func (s *nodeSize) refuse(asked Amounts) {
	if s.refusals == 0 {
		s.refused = asked
	}
	for r := range asked {
		s.refused[r] = min(s.refused[r], asked[r])
	}
	s.refusals = min(refusals, s.refusals+1)
}

// accept notes what a Pod has. That it was given just now ends the row, until which it counts for as much as any other.
func (s *nodeSize) accept(has Amounts, now bool) {
	for r := range has {
		s.accepted[r] = max(s.accepted[r], has[r])
	}
	if now && s.refusals < refusals {
		s.refusals = 0
	}
}

// Accepted is what a Pod on a node that has so much allocatable may request, where three Pods in a row were refused more there;
// None where that did not happen. It goes into [Room].
func (m *Past) Accepted(node Amounts) Amounts {
	accepted := none()
	for _, s := range m.nodes {
		for r := range accepted {
			if s.node == node && s.refusals >= refusals && s.accepted[r] > 0 && s.accepted[r] < s.refused[r] {
				accepted[r] = s.accepted[r]
			}
		}
	}
	return accepted
}

// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"cmp"
	"slices"
)

// Part is what the containers of a workload used in one cluster, all of the same name.
type Part struct {
	Cluster string
	Use     *Use
	// Silent is true while the cluster does not say what they use now.
	Silent bool
}

// AdviseFleet returns advice that is the same for all clusters, from what was used in all of them. Last is what was
// advised before. While a cluster is silent nothing becomes less than that: what the cluster needs is not known, and it
// may be what made the advice high.
func AdviseFleet(parts []Part, o Options, last Advice) Advice {
	a, _ := GroundedAdvice(parts, o, last)
	return a
}

// AdviseCluster returns advice for the containers of one cluster, from what they used. Where nothing is known of them, it is
// the fleet's.
func AdviseCluster(p Part, o Options, fleet, last Advice) Advice {
	a := p.Use.Advise(o)
	if p.Use.Samples == 0 {
		a = fleet
	}
	return a.heldIf(p.Silent, last)
}

// inOrder are the parts in the order of their clusters, since sums of weights depend on it, by a little.
func inOrder(parts []Part) []Part {
	byCluster := func(a, b Part) int { return cmp.Compare(a.Cluster, b.Cluster) }
	if slices.IsSortedFunc(parts, byCluster) {
		return parts
	}
	return slices.SortedFunc(slices.Values(parts), byCluster)
}

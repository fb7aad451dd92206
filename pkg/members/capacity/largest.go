// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// LargestNodes bound what a Pod may request, if it is to find a node.
type LargestNodes struct {
	// Nodes are what is allocatable there; see [fit.Largest].
	Nodes []pods.Resources
	// Known is false when Nodes say nothing.
	Known bool
	// Unknown is why they are not Known; nil if they are.
	Unknown *fleet.Silence
	// AsOf is the time at which it was so; zero if not Known.
	AsOf time.Time
	// Allocatable is what is allocatable on the node of that name, be it one that the Pods may run on or not; None where there is no
	// such node. Nil: it is not Known.
	Allocatable func(node string) pods.Resources
}

// LargestNodes answers for Pods of a template in a member, from the nodes that estimates rest on. The first question waits
// for their first list, at most until ctx ends.
func (e *Estimator) LargestNodes(ctx context.Context, m mirror.Member, template *corev1.PodTemplateSpec) LargestNodes {
	a := e.members.nodes.Ask(ctx, m, "")
	if !a.Known {
		return LargestNodes{Unknown: because("nodes", a.Silence)}
	}
	l := LargestNodes{Known: true, AsOf: a.AsOf, Allocatable: func(node string) pods.Resources {
		r, found := a.Find(mirror.Key{Name: node})
		if !found {
			return pods.Resources{MilliCPU: pods.None, Memory: pods.None}
		}
		return pods.Resources{MilliCPU: r.node.Allocatable.MilliCPU, Memory: r.node.Allocatable.Memory}
	}}
	for _, n := range fit.Largest(nodesOf(a), template) {
		l.Nodes = append(l.Nodes, pods.Resources{MilliCPU: n.MilliCPU, Memory: n.Memory})
	}
	return l
}

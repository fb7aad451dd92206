// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// admission finds the nodes that constraints admit, whatever room they have.
type admission struct {
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
	node        corev1.Node // a node as the library wants to see it; reused
}

func (c *Constraints) admission() *admission {
	return &admission{
		affinity:    nodeaffinity.NewRequiredNodeAffinity(c.NodeSelector, &corev1.Affinity{NodeAffinity: c.Affinity}),
		tolerations: c.Tolerations,
	}
}

func (a *admission) admits(n *Node) bool {
	return n.Open && a.tolerates(n) && a.selects(n)
}

// selects reports whether the node meets node selector and required affinity. An affinity that makes no sense selects
// nothing.
func (a *admission) selects(n *Node) bool {
	a.node.Name, a.node.Labels = n.Name.Value(), n.Labels
	match, err := a.affinity.Match(&a.node)
	return match && err == nil
}

func (a *admission) tolerates(n *Node) bool {
	if len(n.Taints) == 0 {
		return true
	}
	const comparisons = false // of numbers, by tolerations: an alpha feature
	_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(logr.Discard(), n.Taints, a.tolerations, nil, comparisons)
	return !untolerated
}

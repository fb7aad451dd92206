// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"unique"

	corev1 "k8s.io/api/core/v1"
)

// Node is what matters of a node.
type Node struct {
	Name        unique.Handle[string]
	Labels      map[string]string
	Taints      []corev1.Taint // those that keep Pods from being scheduled; cordoned is one of them
	Open        bool           // Ready and not being deleted
	Allocatable Amounts
}

// NodeOf reads a node. The record shares its labels.
func NodeOf(n *corev1.Node) Node {
	return Node{
		Name:        unique.Make(n.Name),
		Labels:      n.Labels,
		Taints:      taintsOf(&n.Spec),
		Open:        n.DeletionTimestamp == nil && ready(n),
		Allocatable: amountsOf(n.Status.Allocatable),
	}
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// taintsOf adds the taint of cordoned nodes where it is not there yet: the scheduler reads the field.
func taintsOf(spec *corev1.NodeSpec) []corev1.Taint {
	var taints []corev1.Taint
	for _, t := range spec.Taints {
		if t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	if spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

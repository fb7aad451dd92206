// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// passing begins the taints that Kubernetes puts on nodes for as long as a state lasts: cordoned, not ready, under pressure.
const passing = "node.kubernetes.io/"

// Largest is what is allocatable on the largest nodes that Pods of a template may run on: what none of these can take, no node
// can. They are more than one where the node with the most CPU is not the one with the most memory: then each has less CPU
// than the one before, and more memory. Empty: there is no node for such Pods.
//
// It is a fact of the cluster, and not its room: what others have taken does not count, nor does it whether a node is Ready
// or cordoned. Otherwise Pods would become small each time that the largest node is restarted.
func Largest(nodes iter.Seq[*Node], template *corev1.PodTemplateSpec) []Amounts {
	constraints := constraintsOf(&template.Spec)
	admission := constraints.admission()
	var all []Amounts
	for n := range nodes {
		lasting := *n
		lasting.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, passing) })
		if admission.tolerates(&lasting) && admission.selects(n) {
			all = append(all, n.Allocatable)
		}
	}
	slices.SortStableFunc(all, func(a, b Amounts) int {
		return cmp.Or(cmp.Compare(b.MilliCPU, a.MilliCPU), cmp.Compare(b.Memory, a.Memory))
	})
	most := int64(0)
	return slices.DeleteFunc(all, func(a Amounts) bool {
		if a.MilliCPU <= 0 || a.Memory <= most {
			return true
		}
		most = a.Memory
		return false
	})
}

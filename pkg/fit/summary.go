// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"math"

	corev1 "k8s.io/api/core/v1"
)

// Summary is what all nodes of a cluster have together, as Karmada sums it up.
type Summary struct {
	Allocatable corev1.ResourceList `json:"allocatable"`
	Allocated   corev1.ResourceList `json:"allocated"`  // to bound Pods
	Allocating  corev1.ResourceList `json:"allocating"` // to those that wait for a node
}

// EstimateSummary returns what [Estimate] is, from less: as if all nodes were one that admits everything. It is too high by
// what does not fit the gaps, by nodes that are not Ready or not admitted, and by the rules between Pods; and too low by
// the replicas that wait for a node.
func EstimateSummary(s Summary, w Workload) int32 {
	free := amountsOf(s.Allocatable)
	for _, taken := range []corev1.ResourceList{s.Allocated, s.Allocating} {
		free.take(amountsOf(taken))
	}
	return int32(min(free.holds(newReplica(&w).requests), math.MaxInt32))
}

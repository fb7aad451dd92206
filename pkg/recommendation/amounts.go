// SPDX-License-Identifier: Apache-2.0

package recommendation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// ResourceNames are by [sizes.Resource].
var ResourceNames = [...]corev1.ResourceName{sizes.CPU: corev1.ResourceCPU, sizes.Memory: corev1.ResourceMemory}

// Most is more than any Pod has, of cpu and of memory; sums of it are bounded by package sizes.
const Most = int64(1e14)

// NoAmounts are none of any resource.
func NoAmounts() sizes.Amounts { return sizes.Amounts{sizes.None, sizes.None} }

// Nothing is no advice.
func Nothing() sizes.Advice {
	return sizes.Advice{Target: NoAmounts(), Lower: NoAmounts(), Upper: NoAmounts()}
}

func amountOf(q *resource.Quantity, scale resource.Scale) int64 {
	if q.CmpInt64(Most) > 0 {
		return Most
	}
	return min(Most, q.ScaledValue(scale))
}

// AmountsOf has None for what is not said.
func AmountsOf(s v1alpha1.Size) sizes.Amounts {
	a := NoAmounts()
	if s.CPU != nil {
		a[sizes.CPU] = amountOf(s.CPU, resource.Milli)
	}
	if s.Memory != nil {
		a[sizes.Memory] = amountOf(s.Memory, 0)
	}
	return a
}

// amountsIn are those of a list, where what is not set is None.
func amountsIn(list corev1.ResourceList) sizes.Amounts {
	a := NoAmounts()
	if q, set := list[corev1.ResourceCPU]; set {
		a[sizes.CPU] = amountOf(&q, resource.Milli)
	}
	if q, set := list[corev1.ResourceMemory]; set {
		a[sizes.Memory] = amountOf(&q, 0)
	}
	return a
}

// ofGoals has None for what is not stated.
func ofGoals(a goals.Amounts) sizes.Amounts {
	stated := NoAmounts()
	if a.CPU > 0 {
		stated[sizes.CPU] = a.CPU
	}
	if a.Memory > 0 {
		stated[sizes.Memory] = a.Memory
	}
	return stated
}

func toGoals(a sizes.Amounts) goals.Amounts {
	return goals.Amounts{CPU: max(0, a[sizes.CPU]), Memory: max(0, a[sizes.Memory])}
}

// Fill has what is not said be otherwise.
func Fill(amount *int64, otherwise int64) {
	if *amount < 0 {
		*amount = otherwise
	}
}

// Add adds an amount, if there is one, to a sum that may be none yet.
func Add(sum *int64, amount int64) {
	if amount >= 0 {
		*sum = max(0, *sum) + amount
	}
}

// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"k8s.io/apimachinery/pkg/api/resource"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// resourceNames are by [sizes.Resource].
var resourceNames = [...]corev1.ResourceName{sizes.CPU: corev1.ResourceCPU, sizes.Memory: corev1.ResourceMemory}

// most is more than any Pod has, of cpu and of memory; sums of it are bounded by package sizes.
const most = int64(1e14)

func amountOf(q *resource.Quantity, scale resource.Scale) int64 {
	if q.CmpInt64(most) > 0 {
		return most
	}
	return min(most, q.ScaledValue(scale))
}

func noAmounts() sizes.Amounts { return sizes.Amounts{sizes.None, sizes.None} }

func amountsOf(s v1alpha1.Size) sizes.Amounts {
	a := noAmounts()
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
	a := noAmounts()
	if q, set := list[corev1.ResourceCPU]; set {
		a[sizes.CPU] = amountOf(&q, resource.Milli)
	}
	if q, set := list[corev1.ResourceMemory]; set {
		a[sizes.Memory] = amountOf(&q, 0)
	}
	return a
}

func ofPods(r pods.Resources) sizes.Amounts {
	return sizes.Amounts{min(most, r.MilliCPU), min(most, r.Memory)}
}

// ofGoals has None for what is not stated.
func ofGoals(a goals.Amounts) sizes.Amounts {
	stated := noAmounts()
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

// sizeOf is how amounts are written; None is left out.
func sizeOf(a sizes.Amounts) (s v1alpha1.Size) {
	if a[sizes.CPU] >= 0 {
		s.CPU = resource.NewMilliQuantity(a[sizes.CPU], resource.DecimalSI)
	}
	if a[sizes.Memory] >= 0 {
		s.Memory = resource.NewQuantity(a[sizes.Memory], resource.BinarySI)
	}
	return s
}

// differenceOf is as [sizeOf], for amounts that may be negative.
func differenceOf(a sizes.Amounts) v1alpha1.Size {
	return v1alpha1.Size{CPU: resource.NewMilliQuantity(a[sizes.CPU], resource.DecimalSI),
		Memory: resource.NewQuantity(a[sizes.Memory], resource.BinarySI)}
}

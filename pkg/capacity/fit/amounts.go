// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// Amounts are quantities of resources as the scheduler reckons them: fractions are rounded up, for each Pod by itself.
type Amounts struct {
	MilliCPU         int64
	Memory           int64 // bytes
	EphemeralStorage int64 // bytes
	// Pods is how many Pods a node takes; 1 for what a Pod needs.
	Pods int64
	// Others are extended resources and huge pages, in their units; those of which there are none are left out.
	Others map[corev1.ResourceName]int64
}

func amountsOf(list corev1.ResourceList) Amounts {
	var a Amounts
	for name, quantity := range list {
		switch name {
		case corev1.ResourceCPU:
			a.MilliCPU = quantity.MilliValue()
		case corev1.ResourceMemory:
			a.Memory = quantity.Value()
		case corev1.ResourceEphemeralStorage:
			a.EphemeralStorage = quantity.Value()
		case corev1.ResourcePods:
			a.Pods = quantity.Value()
		default:
			if !quantity.IsZero() {
				a.setOther(name, quantity.Value())
			}
		}
	}
	return a
}

// clone shares nothing with a.
func (a Amounts) clone() Amounts {
	a.Others = maps.Clone(a.Others)
	return a
}

// take subtracts b. What is overcommitted becomes negative.
func (a *Amounts) take(b Amounts) {
	a.MilliCPU = minus(a.MilliCPU, b.MilliCPU)
	a.Memory = minus(a.Memory, b.Memory)
	a.EphemeralStorage = minus(a.EphemeralStorage, b.EphemeralStorage)
	a.Pods = minus(a.Pods, b.Pods)
	for name, value := range b.Others {
		a.setOther(name, minus(a.Others[name], value))
	}
}

func (a *Amounts) setOther(name corev1.ResourceName, value int64) {
	if a.Others == nil {
		a.Others = map[corev1.ResourceName]int64{}
	}
	a.Others[name] = value
}

// holds is how many times all of b is in a. A resource that b has nothing of does not matter, even if a is overcommitted.
func (a Amounts) holds(b Amounts) int64 {
	n := min(
		quotient(a.MilliCPU, b.MilliCPU),
		quotient(a.Memory, b.Memory),
		quotient(a.EphemeralStorage, b.EphemeralStorage),
		quotient(a.Pods, b.Pods),
	)
	for name, value := range b.Others {
		n = min(n, quotient(a.Others[name], value))
	}
	return n
}

// quotient is how many times part is in whole; unlimited for nothing.
func quotient(whole, part int64) int64 {
	if part <= 0 {
		return math.MaxInt64
	}
	return max(0, whole) / part
}

// minus is a-b for b of 0 or more, no less than the least number.
func minus(a, b int64) int64 {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}

// plus is a+b for numbers of 0 or more, no more than the greatest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

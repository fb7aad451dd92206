// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Amounts are quantities of resources as the scheduler counts them: fractions are rounded up, for each Pod by itself.
// What was read of the same list is equal.
type Amounts struct {
	MilliCPU         int64
	Memory           int64 // bytes
	EphemeralStorage int64 // bytes
	// Pods is how many Pods a node takes; 1 for what a Pod needs.
	Pods int64
	// others are extended resources and huge pages, in their units; those of which there are none are left out. Packed:
	// for each its name and number.
	others string
}

func amountsOf(list corev1.ResourceList) Amounts {
	var a Amounts
	for _, name := range slices.SortedFunc(maps.Keys(list), cmp.Compare) {
		switch quantity := list[name]; name {
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
				a.others += pack(string(name), quantity.Value())
			}
		}
	}
	return a
}

func pack(name string, value int64) string {
	return string(compact.AppendNumber(compact.AppendText(nil, name), value))
}

// eachOther yields the others by name.
func (a Amounts) eachOther() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for rest := a.others; rest != ""; {
			var name string
			var value int64
			name, rest = compact.CutText(rest)
			value, rest = compact.CutNumber(rest)
			if !yield(name, value) {
				return
			}
		}
	}
}

// other returns how much there is of one of them.
func (a Amounts) other(name string) int64 {
	for n, value := range a.eachOther() {
		if n == name {
			return value
		}
	}
	return 0
}

// take subtracts b. What is overcommitted becomes negative; of others that are not there, nothing is.
func (a *Amounts) take(b Amounts) {
	a.MilliCPU = minus(a.MilliCPU, b.MilliCPU)
	a.Memory = minus(a.Memory, b.Memory)
	a.EphemeralStorage = minus(a.EphemeralStorage, b.EphemeralStorage)
	a.Pods = minus(a.Pods, b.Pods)
	if b.others == "" {
		return
	}
	left := ""
	for name, have := range a.eachOther() {
		left += pack(name, minus(have, b.other(name)))
	}
	a.others = left
}

// holds returns how many times all of b is in a. A resource that b has nothing of does not matter, even if a is overcommitted.
func (a Amounts) holds(b Amounts) int64 {
	n := min(
		quotient(a.MilliCPU, b.MilliCPU),
		quotient(a.Memory, b.Memory),
		quotient(a.EphemeralStorage, b.EphemeralStorage),
		quotient(a.Pods, b.Pods),
	)
	for name, value := range b.eachOther() {
		n = min(n, quotient(a.other(name), value))
	}
	return n
}

// quotient returns how many times part is in whole; unlimited for nothing.
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

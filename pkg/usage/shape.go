// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"iter"
	"maps"
	"math"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A shape is all of a pod's usage but the numbers: its containers' names, and
// for each the resources with the unit of their numbers. Pods of one template
// have the same, so it is kept once for the whole process.
//
// Its text is the number of containers, then for each: name, number of
// resources, and for each of those name, unit and format.
type shape struct {
	text unique.Handle[string]
}

// units are the scales in which a number may be held, by decimal exponent.
// metrics-server gives cpu in nano and memory in Ki, which are bytes.
var (
	fineFirst   = [...]resource.Scale{resource.Nano, resource.Micro, resource.Milli, 0}
	coarseFirst = [...]resource.Scale{0, resource.Milli, resource.Micro, resource.Nano}
)

// container is one container's usage as it was decoded; a node's has no name.
type container struct {
	name  string
	usage corev1.ResourceList
}

// newShape writes the numbers behind values, in the order in which usages reads them.
func newShape(containers []container, values []int64) (shape, []int64) {
	text := []byte{}
	text = appendCount(text, len(containers))
	for _, c := range containers {
		text = appendText(text, c.name)
		text = appendCount(text, len(c.usage))
		for _, name := range slices.Sorted(maps.Keys(c.usage)) {
			quantity := c.usage[name]
			value, scale := number(quantity)
			text = appendText(text, string(name))
			text = append(text, byte(-scale))
			text = appendText(text, string(quantity.Format))
			values = append(values, value)
		}
	}
	return shape{text: unique.Make(string(text))}, values
}

// number is the quantity as a whole number of 10^scale: exact where an int64
// of some unit can hold it, else rounded up to the finest unit that can, as
// quantities round, and saturated past the largest int64 of ones. Which unit
// is tried first matters for memory only: few units make few shapes.
func number(q resource.Quantity) (int64, resource.Scale) {
	scales := fineFirst
	if q.Format == resource.BinarySI {
		scales = coarseFirst
	}
	for _, scale := range scales {
		value := q.ScaledValue(scale)
		if resource.NewScaledQuantity(value, scale).Cmp(q) == 0 {
			return value, scale
		}
	}
	for _, scale := range fineFirst {
		value := q.ScaledValue(scale)
		if resource.NewScaledQuantity(value-1, scale).Cmp(q) < 0 && resource.NewScaledQuantity(value, scale).Cmp(q) > 0 {
			return value, scale
		}
	}
	if q.Sign() < 0 {
		return math.MinInt64, 0
	}
	return math.MaxInt64, 0
}

// usages yields each container's name and usage, in the order of the pod.
func (s shape) usages(values []int64) iter.Seq2[string, corev1.ResourceList] {
	return func(yield func(string, corev1.ResourceList) bool) {
		count, rest := cutCount(s.text.Value())
		for range count {
			var name string
			var resources int
			name, rest = cutText(rest)
			resources, rest = cutCount(rest)
			usage := make(corev1.ResourceList, resources)
			for range resources {
				var resourceName, format string
				resourceName, rest = cutText(rest)
				scale := -resource.Scale(rest[0])
				format, rest = cutText(rest[1:])
				quantity := resource.NewScaledQuantity(values[0], scale)
				quantity.Format = resource.Format(format)
				usage[corev1.ResourceName(resourceName)] = *quantity
				values = values[1:]
			}
			if !yield(name, usage) {
				return
			}
		}
	}
}

// containers is their number.
func (s shape) containers() int {
	count, _ := cutCount(s.text.Value())
	return count
}

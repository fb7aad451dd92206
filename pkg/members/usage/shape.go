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

	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// A shape is all of a pod's usage but the numbers: its containers' names, and
// for each the resources with the unit of their numbers. Pods of one template
// have the same, so it is kept once for the whole process.
//
// Its text is the number of containers, then for each: name, number of
// resources, and a text of those: for each name, unit and format.
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
	text = compact.AppendNumber(text, int64(len(containers)))
	for _, c := range containers {
		text = compact.AppendText(text, c.name)
		text = compact.AppendNumber(text, int64(len(c.usage)))
		var resources []byte
		for _, name := range slices.Sorted(maps.Keys(c.usage)) {
			quantity := c.usage[name]
			value, scale := number(quantity)
			resources = compact.AppendText(resources, string(name))
			resources = append(resources, byte(-scale))
			resources = compact.AppendText(resources, string(quantity.Format))
			values = append(values, value)
		}
		text = compact.AppendText(text, string(resources))
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
func (s shape) usages(values []int64) iter.Seq2[string, Usage] {
	return func(yield func(string, Usage) bool) {
		count, rest := compact.CutNumber(s.text.Value())
		for range count {
			var name, resources string
			var n int64
			name, rest = compact.CutText(rest)
			n, rest = compact.CutNumber(rest)
			resources, rest = compact.CutText(rest)
			if !yield(name, Usage{resources: resources, values: values[:n]}) {
				return
			}
			values = values[n:]
		}
	}
}

// containers is their number.
func (s shape) containers() int {
	count, _ := compact.CutNumber(s.text.Value())
	return int(count)
}

// values returns how many numbers usages reads.
func (s shape) values() (n int) {
	count, rest := compact.CutNumber(s.text.Value())
	for range count {
		_, rest = compact.CutText(rest)
		var resources int64
		resources, rest = compact.CutNumber(rest)
		_, rest = compact.CutText(rest)
		n += int(resources)
	}
	return n
}

// Usage is how much of each resource one container, or a node, used.
type Usage struct {
	resources string // as in a shape's text
	values    []int64
}

// All yields the resources by name.
func (u Usage) All() iter.Seq2[string, wire.Number] {
	return func(yield func(string, wire.Number) bool) {
		rest := u.resources
		for _, value := range u.values {
			var name, format string
			name, rest = compact.CutText(rest)
			scale := -resource.Scale(rest[0])
			format, rest = compact.CutText(rest[1:])
			if !yield(name, wire.Number{Value: value, Scale: scale, Format: resource.Format(format)}) {
				return
			}
		}
	}
}

func (u Usage) list() corev1.ResourceList {
	list := make(corev1.ResourceList, len(u.values))
	for name, number := range u.All() {
		list[corev1.ResourceName(name)] = number.Quantity()
	}
	return list
}

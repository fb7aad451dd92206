// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// Usage is what each container of some pods uses from now on. A pod of two
// containers uses twice as much.
type Usage struct {
	// Namespace of the pods; empty for all.
	Namespace string `json:",omitempty"`
	// Labels that the pods must have; none for all.
	Labels map[string]string `json:",omitempty"`
	// CPU and Memory; nil leaves one as it is.
	CPU    *resource.Quantity `json:",omitempty"`
	Memory *resource.Quantity `json:",omitempty"`
}

// Usage of a container before anything is set.
const (
	defaultCPU    = "100m"
	defaultMemory = "128Mi"
)

// A pod's own annotations outrank every Usage.
const (
	cpuAnnotation    = "kwok.x-k8s.io/usage-cpu"
	memoryAnnotation = "kwok.x-k8s.io/usage-memory"
)

// usages are the rules of one cluster. A later one outranks the earlier ones.
type usages []Usage

const (
	usageName        = "usage"
	usagesAnnotation = "lab.fleetscale.io/usages"
)

// with adds a rule, in the place of one for the same pods.
func (u usages) with(added Usage) usages {
	var next usages
	for _, rule := range u {
		if !rule.samePods(added) {
			next = append(next, rule)
			continue
		}
		if added.CPU == nil {
			added.CPU = rule.CPU
		}
		if added.Memory == nil {
			added.Memory = rule.Memory
		}
	}
	return append(next, added)
}

func (u Usage) samePods(other Usage) bool {
	return u.Namespace == other.Namespace && labels.Equals(u.Labels, other.Labels)
}

// manifest is the object by which kwok knows them. The rules themselves go
// along in an annotation, for the next change.
func (u usages) manifest() (string, error) {
	rules, err := json.Marshal(u)
	if err != nil {
		return "", fmt.Errorf("encoding usages: %w", err)
	}
	cpu := u.expression(cpuAnnotation, defaultCPU, func(rule Usage) *resource.Quantity { return rule.CPU })
	memory := u.expression(memoryAnnotation, defaultMemory, func(rule Usage) *resource.Quantity { return rule.Memory })
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1",
		"kind":       "ClusterResourceUsage",
		"metadata":   map[string]any{"name": usageName, "annotations": map[string]any{usagesAnnotation: string(rules)}},
		"spec": map[string]any{"usages": []any{map[string]any{"usage": map[string]any{
			"cpu":    map[string]any{"expression": cpu},
			"memory": map[string]any{"expression": memory},
		}}}},
	})
	return string(manifest), err
}

// expression chooses one resource's usage of a container, in CEL: the pod's
// annotation, or the last rule that fits, or the default.
func (u usages) expression(annotation, fallback string, value func(Usage) *resource.Quantity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%[1]q in pod.metadata.annotations ? Quantity(pod.metadata.annotations[%[1]q])", annotation)
	for _, rule := range slices.Backward(u) {
		if quantity := value(rule); quantity != nil {
			fmt.Fprintf(&b, " : %s ? Quantity(%q)", rule.condition(), quantity)
		}
	}
	fmt.Fprintf(&b, " : Quantity(%q)", fallback)
	return b.String()
}

func (u Usage) condition() string {
	var parts []string
	if u.Namespace != "" {
		parts = append(parts, "pod.metadata.namespace == "+strconv.Quote(u.Namespace))
	}
	for _, key := range slices.Sorted(maps.Keys(u.Labels)) {
		parts = append(parts, fmt.Sprintf("%[1]q in pod.metadata.labels && pod.metadata.labels[%[1]q] == %[2]q", key, u.Labels[key]))
	}
	if len(parts) == 0 {
		return "true"
	}
	return "(" + strings.Join(parts, " && ") + ")"
}

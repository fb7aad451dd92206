// SPDX-License-Identifier: Apache-2.0

package recommendation

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Template is what a workload makes Pods of.
type Template struct {
	Containers []Container
	// Initial are those that initialize a Pod.
	Initial  []Container
	Overhead sizes.Amounts
}

// Container is a container as it is written.
type Container struct {
	Name string
	sizes.Resources
	// RunsOn is true for one that initializes a Pod, and runs as long as that.
	RunsOn bool
}

// TemplateOf reads the spec of a Pod.
func TemplateOf(spec *corev1.PodSpec) Template {
	t := Template{Containers: make([]Container, len(spec.Containers)), Overhead: amountsIn(spec.Overhead)}
	for i := range spec.Containers {
		t.Containers[i] = containerOf(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		t.Initial = append(t.Initial, containerOf(&spec.InitContainers[i]))
	}
	return t
}

func containerOf(c *corev1.Container) Container {
	return Container{
		Name: c.Name, Resources: sizes.Resources{Requests: amountsIn(c.Resources.Requests), Limits: amountsIn(c.Resources.Limits)},
		RunsOn: c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways,
	}
}

// Running are the containers that run as long as the Pod, the regular ones first.
func (t *Template) Running() []goals.Container {
	all := make([]goals.Container, 0, len(t.Containers))
	add := func(c *Container) {
		all = append(all, goals.Container{Name: c.Name, Requests: toGoals(c.Requests), Limits: toGoals(c.Limits)})
	}
	for i := range t.Containers {
		add(&t.Containers[i])
	}
	for i := range t.Initial {
		if t.Initial[i].RunsOn {
			add(&t.Initial[i])
		}
	}
	return all
}

// Fixed is what is requested, and limited, by all that is not sized with the containers.
func (t *Template) Fixed() sizes.Resources {
	fixed := sizes.Resources{Requests: t.Overhead, Limits: t.Overhead}
	for i := range t.Initial {
		if !t.Initial[i].RunsOn {
			continue
		}
		has := admitted(t.Initial[i].Resources, NoDefaults())
		for r := range ResourceNames {
			Add(&fixed.Requests[r], has.Requests[r])
			Add(&fixed.Limits[r], has.Limits[r])
		}
	}
	return fixed
}

// NoDefaults are those of LimitRanges that say nothing.
func NoDefaults() sizes.Resources { return sizes.Resources{Requests: NoAmounts(), Limits: NoAmounts()} }

// admitted is what a container has once an API server has stored it: a request that is not set is as the limit; and what is still not set
// is as the LimitRanges of the namespace have it.
func admitted(has, defaults sizes.Resources) sizes.Resources {
	for r := range ResourceNames {
		Fill(&has.Requests[r], has.Limits[r])
		Fill(&has.Limits[r], defaults.Limits[r])
		Fill(&has.Requests[r], defaults.Requests[r])
	}
	return has
}

// guaranteed reports whether a container is one of a Pod of that quality of service.
func guaranteed(has sizes.Resources) bool {
	for r := range ResourceNames {
		if has.Limits[r] <= 0 || has.Requests[r] != has.Limits[r] {
			return false
		}
	}
	return true
}

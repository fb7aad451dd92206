// SPDX-License-Identifier: Apache-2.0

package goals

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Container is what the workload's template says of one container that runs as long as its Pod.
type Container struct {
	Name             string
	Requests, Limits Amounts
}

// Amounts are of cpu in thousandths of a core, and of memory in bytes. 0: none is stated.
type Amounts struct{ CPU, Memory int64 }

func (a Amounts) of(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return a.CPU
	case corev1.ResourceMemory:
		return a.Memory
	}
	return 0
}

// most is more than any Pod has, and still fits where thousandths are counted.
const most = math.MaxInt64 / 1000

// goal is one that is a resource's: of a container, or of the whole Pod.
type goal struct {
	spec      *v1alpha1.MultidimPodAutoscalerSpec
	resource  corev1.ResourceName
	container string
	concerned []Container
}

func concerned(template []Container, name string) []Container {
	if name == "" {
		return template
	}
	i := slices.IndexFunc(template, func(c Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return template[i : i+1]
}

// shared reports whether the resource is sized, too.
func (g *goal) shared() bool {
	return slices.ContainsFunc(g.concerned, func(c Container) bool { return g.spec.Sized(c.Name, g.resource) })
}

// base is what 100 % is; with a reason, it cannot be said.
func (g *goal) base() (base int64, reason, message string) {
	if g.spec.Goals.UtilizationBase == v1alpha1.BaseLiveRequest {
		return 0, LiveRequest, fmt.Sprintf("%s is sized, so its utilization may not have the base LiveRequest: write TemplateRequest",
			g.resource)
	}
	if len(g.concerned) == 0 {
		return 0, NoContainer, "the template has no such container, so its utilization cannot be told: name one that it has, or write the goal " +
			"as averageValue"
	}
	byMax := g.spec.Goals.UtilizationBase == v1alpha1.BaseMaxAllowed
	for _, c := range g.concerned {
		part := c.Requests.of(g.resource)
		if byMax && g.spec.Sized(c.Name, g.resource) {
			allowed := g.spec.Container(c.Name).Requests.MaxAllowed.Of(g.resource)
			if allowed == nil {
				return 0, NoMaxAllowed, fmt.Sprintf("container %q has no maxAllowed of %s, which utilizationBase MaxAllowed needs: give it one, or "+
					"write TemplateRequest", c.Name, g.resource)
			}
			part = amount(g.resource, allowed)
		}
		if part <= 0 {
			return 0, NoRequest, fmt.Sprintf("container %q requests no %s in the template, so its utilization cannot be told: give it a request, "+
				"or write the goal as averageValue", c.Name, g.resource)
		}
		base = min(most, base+min(most, part))
	}
	return base, "", ""
}

// limit is what the containers may use together; all is false if one of them may use what it likes.
func (g *goal) limit() (limit int64, all bool) {
	for _, c := range g.concerned {
		part := c.Limits.of(g.resource)
		if part <= 0 {
			return 0, false
		}
		limit = min(most, limit+min(most, part))
	}
	return limit, true
}

func amount(name corev1.ResourceName, q *resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return min(most, q.MilliValue())
	}
	return min(most, q.Value())
}

// percent rounds down: rather a replica more.
func percent(p int32, of int64) int64 {
	high, low := bits.Mul64(uint64(p), uint64(of))
	if high >= 100 {
		return most
	}
	whole, _ := bits.Div64(high, low, 100)
	return int64(min(most, whole))
}

// SPDX-License-Identifier: Apache-2.0

package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Container is what a container's spec requests and limits.
type Container struct {
	Name             string
	Requests, Limits Resources
}

// Resources are thousandths of a core, and bytes. What is not set is None.
type Resources struct{ MilliCPU, Memory int64 }

// None is no amount.
const None int64 = -1

// sizes are the class of a Pod, and the containers of its spec in their order, without those that initialize it. They are
// comparable, and the same for all Pods of a template that were not resized. Packed: the class, then for each container its
// name, requests and limits, each amount as one more than it is.
type sizes string

// classes are those that the API has. The last one is for all others.
var classes = []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort, ""}

func sizesOf(p *corev1.Pod) sizes {
	packed := make([]byte, 0, 128) // on the stack: this is done for each Pod that changes
	packed = compact.AppendNumber(packed, int64(place(classes, p.Status.QOSClass)))
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		packed = compact.AppendText(packed, c.Name)
		packed = appendResources(appendResources(packed, c.Resources.Requests), c.Resources.Limits)
	}
	return sizes(packed)
}

func appendResources(packed []byte, list corev1.ResourceList) []byte {
	packed = compact.AppendNumber(packed, amountIn(list, corev1.ResourceCPU, resource.Milli)+1)
	return compact.AppendNumber(packed, amountIn(list, corev1.ResourceMemory, 0)+1)
}

func amountIn(list corev1.ResourceList, name corev1.ResourceName, scale resource.Scale) int64 {
	quantity, set := list[name]
	if !set {
		return None
	}
	return quantity.ScaledValue(scale)
}

func (s sizes) class() corev1.PodQOSClass {
	class, _ := compact.CutNumber(string(s))
	return classes[class]
}

func (s sizes) containers() []Container {
	var all []Container
	for _, rest := compact.CutNumber(string(s)); rest != ""; {
		var c Container
		c.Name, rest = compact.CutText(rest)
		c.Requests, rest = cutResources(rest)
		c.Limits, rest = cutResources(rest)
		all = append(all, c)
	}
	return all
}

func cutResources(packed string) (r Resources, rest string) {
	r.MilliCPU, packed = compact.CutNumber(packed)
	r.Memory, packed = compact.CutNumber(packed)
	return Resources{r.MilliCPU - 1, r.Memory - 1}, packed
}

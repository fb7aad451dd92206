// SPDX-License-Identifier: Apache-2.0

package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Container is what a container's spec requests and limits.
type Container struct {
	Name             string
	Requests, Limits Resources
	Restarts         Restarts
}

// Resources are thousandths of a core, and bytes. What is not set is None.
type Resources struct{ MilliCPU, Memory int64 }

// None is no amount.
const None int64 = -1

// sizes are the class of a Pod, who sized it, and the containers of its spec in their order, without those that initialize
// it. They are comparable, and the same for all Pods of a template that have one size. Packed: the class, whether it is static,
// who sized it, then for each container its name, with what changes it restarts, its requests and limits, each amount as one
// more than it is.
type sizes string

// mostSizedBy bounds the annotation: the name of an object, an @, and a number. A longer one is none.
const mostSizedBy = 300

// classes are those that the API has. The last one is for all others.
var classes = []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort, ""}

func sizesOf(p *corev1.Pod) sizes {
	packed := make([]byte, 0, 128) // on the stack: this is done for each Pod that changes
	packed = compact.AppendNumber(packed, int64(place(classes, p.Status.QOSClass)))
	packed = compact.AppendNumber(packed, bit(isStatic(p)))
	packed = compact.AppendText(packed, sizedBy(p))
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		packed = appendRestarts(compact.AppendText(packed, c.Name), restartsOf(c))
		packed = appendResources(appendResources(packed, c.Resources.Requests), c.Resources.Limits)
	}
	return sizes(packed)
}

func sizedBy(p *corev1.Pod) string {
	by := p.Annotations[v1alpha1.SizedByAnnotation]
	if len(by) > mostSizedBy {
		return ""
	}
	return by
}

func appendResources(packed []byte, list corev1.ResourceList) []byte {
	r := resourcesIn(list)
	return compact.AppendNumber(compact.AppendNumber(packed, r.MilliCPU+1), r.Memory+1)
}

func resourcesIn(list corev1.ResourceList) Resources {
	return Resources{amountIn(list, corev1.ResourceCPU, resource.Milli), amountIn(list, corev1.ResourceMemory, 0)}
}

func amountIn(list corev1.ResourceList, name corev1.ResourceName, scale resource.Scale) int64 {
	quantity, set := list[name]
	if !set {
		return None
	}
	return quantity.ScaledValue(scale)
}

// sized is what Pods of these sizes have in common.
func (s sizes) sized() (p SizedPod) {
	class, rest := compact.CutNumber(string(s))
	static, rest := compact.CutNumber(rest)
	p.Class, p.Static = classes[class], static != 0
	for p.SizedBy, rest = compact.CutText(rest); rest != ""; {
		var c Container
		c.Name, rest = compact.CutText(rest)
		c.Restarts, rest = cutRestarts(rest)
		c.Requests, rest = cutResources(rest)
		c.Limits, rest = cutResources(rest)
		p.Containers = append(p.Containers, c)
	}
	return p
}

func cutResources(packed string) (r Resources, rest string) {
	r.MilliCPU, packed = compact.CutNumber(packed)
	r.Memory, packed = compact.CutNumber(packed)
	return Resources{r.MilliCPU - 1, r.Memory - 1}, packed
}

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Requests are what a Pod's spec requests, in milli: each container, and the Pod as a whole where the spec requests
// something so. Of a Pod that is resized in place they are what is asked for, as upstream has it, whatever it
// has until then. They are comparable, and the same for all Pods of a template.
type Requests struct {
	// packed is the amounts of the Pod as a whole as a text, empty if there are none; then for each container that runs
	// on, the regular ones first and each in the order of the spec, its name and its amounts as a text.
	packed string
}

// packedAmounts are by resource: for each its name and number.
type packedAmounts string

// RequestsOf reads the requests of a Pod or of a Pod template.
func RequestsOf(spec *corev1.PodSpec) *Requests {
	packed := compact.AppendText(nil, string(wholeOf(spec)))
	for i := range spec.Containers {
		packed = appendContainer(packed, &spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			packed = appendContainer(packed, c)
		}
	}
	return &Requests{string(packed)}
}

func wholeOf(spec *corev1.PodSpec) packedAmounts {
	if spec.Resources == nil {
		return ""
	}
	pod := &corev1.Pod{Spec: *spec}
	if !resourcehelper.IsPodLevelRequestsSet(pod) {
		return ""
	}
	return amountsOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
}

func appendContainer(packed []byte, c *corev1.Container) []byte {
	return compact.AppendText(compact.AppendText(packed, c.Name), string(amountsOf(c.Resources.Requests)))
}

func amountsOf(list corev1.ResourceList) packedAmounts {
	var packed []byte
	for _, name := range slices.SortedFunc(maps.Keys(list), cmp.Compare) {
		quantity := list[name]
		packed = compact.AppendNumber(compact.AppendText(packed, string(name)), quantity.MilliValue())
	}
	return packedAmounts(packed)
}

// of returns how much there is of a resource, if it is among them.
func (a packedAmounts) of(resource corev1.ResourceName) (milli int64, found bool) {
	for rest := string(a); rest != ""; {
		var name string
		name, rest = compact.CutText(rest)
		milli, rest = compact.CutNumber(rest)
		if name == string(resource) {
			return milli, true
		}
	}
	return 0, false
}

// whole is empty unless something is requested for the Pod as a whole.
func (r *Requests) whole() packedAmounts {
	whole, _ := compact.CutText(r.packed)
	return packedAmounts(whole)
}

// containers yields their names and requests.
func (r *Requests) containers() iter.Seq2[string, packedAmounts] {
	return func(yield func(string, packedAmounts) bool) {
		for _, rest := compact.CutText(r.packed); rest != ""; {
			var name, requests string
			name, rest = compact.CutText(rest)
			requests, rest = compact.CutText(rest)
			if !yield(name, packedAmounts(requests)) {
				return
			}
		}
	}
}

// need names what a metric of Pods is about. Its resource is empty for metrics that are not of a resource, its
// container for those of whole Pods.
type need struct {
	resource  corev1.ResourceName
	container string
}

// of returns what the Pod of that name requests of it, in milli.
func (r *Requests) of(n need, pod string) (int64, error) {
	if r == nil {
		return 0, fmt.Errorf("what Pod %s requests is not known", pod)
	}
	if n.container == "" && r.whole() != "" {
		request, found := r.whole().of(n.resource)
		if !found {
			return 0, fmt.Errorf("missing pod-level request for %s in Pod %s", n.resource, pod)
		}
		return request, nil
	}
	total := int64(0)
	for name, requests := range r.containers() {
		if n.container != "" && n.container != name {
			continue
		}
		request, found := requests.of(n.resource)
		if !found {
			return 0, fmt.Errorf("missing request for %s in container %s of Pod %s", n.resource, name, pod)
		}
		if n.container != "" {
			return request, nil
		}
		total = saturatingAdd(total, request)
	}
	if n.container != "" {
		return 0, fmt.Errorf("container %s not found in Pod %s", n.container, pod)
	}
	return total, nil
}

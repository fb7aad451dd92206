// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Requests are what a Pod's spec requests, in milli. A resize in place is not seen.
type Requests struct {
	// Containers are the regular ones and then the restartable init containers, each in the order of the spec.
	Containers []ContainerRequests
	// Pod is what the Pod as a whole requests, its overhead included, if the spec has requests of that level; else nil.
	Pod map[corev1.ResourceName]int64
}

// ContainerRequests are what one container requests, in milli.
type ContainerRequests struct {
	Name  string
	Milli map[corev1.ResourceName]int64
}

// RequestsOf reads the requests of a Pod or of a Pod template.
func RequestsOf(spec *corev1.PodSpec) *Requests {
	r := &Requests{}
	for i := range spec.Containers {
		r.Containers = append(r.Containers, containerRequests(&spec.Containers[i]))
	}
	for i := range spec.InitContainers {
		if restartable(&spec.InitContainers[i]) {
			r.Containers = append(r.Containers, containerRequests(&spec.InitContainers[i]))
		}
	}
	if hasPodLevel(spec) {
		r.Pod = milli(podLevel(spec))
	}
	return r
}

func containerRequests(c *corev1.Container) ContainerRequests {
	return ContainerRequests{Name: c.Name, Milli: milli(c.Resources.Requests)}
}

func restartable(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func milli(list corev1.ResourceList) map[corev1.ResourceName]int64 {
	values := make(map[corev1.ResourceName]int64, len(list))
	for name, quantity := range list {
		values[name] = quantity.MilliValue()
	}
	return values
}

// hasPodLevel says whether the spec requests something for the Pod as a whole that can be requested so.
func hasPodLevel(spec *corev1.PodSpec) bool {
	if spec.Resources == nil {
		return false
	}
	for name := range spec.Resources.Requests {
		if ofPodLevel(name) {
			return true
		}
	}
	return false
}

func ofPodLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// podLevel is what the scheduler reckons for the Pod: what its containers need at the same time, or what the Pod as a
// whole requests instead, and the overhead.
func podLevel(spec *corev1.PodSpec) corev1.ResourceList {
	total := atOnce(spec)
	for name, quantity := range spec.Resources.Requests {
		if ofPodLevel(name) {
			total[name] = quantity
		}
	}
	add(total, spec.Overhead)
	return total
}

// atOnce is the most that containers need at the same time: all that run on, or those started by then and the init
// container whose turn it is.
func atOnce(spec *corev1.PodSpec) corev1.ResourceList {
	running, started, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for _, c := range spec.Containers {
		add(running, c.Resources.Requests)
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		turn := started.DeepCopy()
		add(turn, c.Resources.Requests)
		if restartable(c) {
			add(running, c.Resources.Requests)
			started = turn
		}
		raise(peak, turn)
	}
	raise(running, peak)
	return running
}

func add(total, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := resource.Quantity{}
		if have, ok := total[name]; ok {
			sum = have.DeepCopy()
		}
		sum.Add(quantity)
		total[name] = sum
	}
}

func raise(total, least corev1.ResourceList) {
	for name, quantity := range least {
		if have, ok := total[name]; !ok || have.Cmp(quantity) < 0 {
			total[name] = quantity.DeepCopy()
		}
	}
}

// need names what a metric of Pods is about. Its resource is empty for metrics that are not of a resource, its
// container for those of whole Pods.
type need struct {
	resource  corev1.ResourceName
	container string
}

// of is what the Pod of that name requests of it, in milli.
func (r *Requests) of(n need, pod string) (int64, error) {
	switch {
	case r == nil:
		return 0, fmt.Errorf("what Pod %s requests is not known", pod)
	case n.container != "":
		return r.ofContainer(n, pod)
	case r.Pod != nil:
		request, found := r.Pod[n.resource]
		if !found {
			return 0, fmt.Errorf("missing pod-level request for %s in Pod %s", n.resource, pod)
		}
		return request, nil
	}
	total := int64(0)
	for _, c := range r.Containers {
		request, err := c.of(n, pod)
		if err != nil {
			return 0, err
		}
		total = saturatingAdd(total, request)
	}
	return total, nil
}

func (r *Requests) ofContainer(n need, pod string) (int64, error) {
	for _, c := range r.Containers {
		if c.Name == n.container {
			return c.of(n, pod)
		}
	}
	return 0, fmt.Errorf("container %s not found in Pod %s", n.container, pod)
}

func (c *ContainerRequests) of(n need, pod string) (int64, error) {
	request, found := c.Milli[n.resource]
	if !found {
		return 0, fmt.Errorf("missing request for %s in container %s of Pod %s", n.resource, c.Name, pod)
	}
	return request, nil
}

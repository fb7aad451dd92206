// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// dice draw Pods and sizes. If small, Pods have no more than limitRange allows.
type dice struct {
	*rand.Rand
	small bool
}

// one reports true once in n times.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

func (d dice) of(words ...string) string { return words[d.IntN(len(words))] }

// amount is what a Pod may say. Few are different, so that equals meet.
func (d dice) amount(name corev1.ResourceName) resource.Quantity {
	amounts, large := []string{"0", "1m", "100m", "250m", "0.25", "500m", "1", "1000m"}, []string{"2", "96", "1e6"}
	if name == corev1.ResourceMemory {
		amounts, large = []string{"0", "1", "64Mi", "128Mi", "134217728", "512Mi", "0.5Gi"}, []string{"1Gi", "1G", "1e9", "3Pi"}
	}
	if !d.small || d.one(50) {
		amounts = append(amounts, large...)
	}
	return resource.MustParse(d.of(amounts...))
}

// legal is what sizes may say.
func (d dice) legal(name string) string {
	if name == "cpu" {
		return d.of("1m", "100m", "250m", "627m", "500m", "1", "1000m", "2", "999999k", "999999999")
	}
	return d.of("1", "64Mi", "128Mi", "134217728", "512Mi", "764046746", "1Gi", "1G", "999Ti", "999999999999Ki")
}

// resources are what one container has. Some are refused by any API server.
func (d dice) resources() (r corev1.ResourceRequirements) {
	r.Requests, r.Limits = corev1.ResourceList{}, corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := d.amount(name), d.amount(name)
		if request.Cmp(limit) > 0 && !d.one(20) {
			request, limit = limit, request
		}
		switch d.IntN(5) {
		case 0:
			r.Requests[name] = request
		case 1:
			r.Limits[name] = limit
		case 2:
			r.Requests[name], r.Limits[name] = limit, limit
		case 3:
			r.Requests[name], r.Limits[name] = request, limit
		}
	}
	if d.one(10) {
		r.Requests["example.com/card"], r.Limits["example.com/card"] = resource.MustParse("1"), resource.MustParse("1")
	}
	if d.one(10) {
		r.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
	}
	return r
}

// equal has a container request what it is limited to.
func (d dice) equal() corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		list[name] = d.amount(name)
	}
	return corev1.ResourceRequirements{Requests: list, Limits: list}
}

// pod is one of a workload with these labels. Some are refused by any API server.
func (d dice) pod(labels map[string]string) *corev1.Pod {
	resources := d.resources
	if d.one(4) {
		resources = d.equal
	}
	container := func(name string) corev1.Container {
		c := corev1.Container{Name: name, Image: "example.com/app", Resources: resources()}
		if d.one(10) {
			c.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
		}
		if d.one(10) {
			c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}}
		}
		return c
	}
	names := []string{"a", "b", "c"}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var containers []corev1.Container
	for _, name := range names[:1+d.IntN(3)] {
		containers = append(containers, container(name))
	}
	if d.one(30) { // refused
		containers = append(containers, container(containers[0].Name))
	}
	pod := podOf(labels, containers...)
	for i := range d.IntN(6) - 3 {
		init := container(fmt.Sprintf("init-%d", i))
		if d.one(2) {
			always := corev1.ContainerRestartPolicyAlways
			init.RestartPolicy = &always
		} else if init.ResizePolicy != nil {
			init.ResizePolicy = nil // for those that stay alone
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, init)
	}
	if d.one(20) {
		whole := resources()
		delete(whole.Requests, "example.com/card")
		delete(whole.Limits, "example.com/card")
		pod.Spec.Resources = &whole
	}
	if d.one(10) {
		pod.Annotations = map[string]string{"example.com/note": "kept"}
	}
	return pod
}

// workload is an entry of a PodSizes: of some of the containers, or of none.
func (d dice) workload(name string, labels map[string]string, withLimits bool) v1alpha1.SizedWorkload {
	w := v1alpha1.SizedWorkload{Name: name, MatchLabels: labels, Containers: []v1alpha1.SizedContainer{}}
	for _, container := range []string{"a", "b", "c", "init-0", "absent"} {
		if d.one(3) {
			continue
		}
		c := v1alpha1.SizedContainer{Name: container, Requests: v1alpha1.SizedResources{}, Limits: v1alpha1.SizedResources{}}
		for _, resource := range []string{"cpu", "memory"} {
			if !d.one(3) {
				c.Requests[resource] = d.legal(resource)
			}
			if withLimits && d.one(2) {
				c.Limits[resource] = d.legal(resource)
			}
		}
		w.Containers = append(w.Containers, c)
	}
	return w
}

// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QuotaLeft returns what the quotas of a namespace leave to all Pods of a template together, those that are there and those
// that are not: what a quota allows, less what others use; 0 or more, and of several quotas the least. It is by the names
// requests.cpu, requests.memory, limits.cpu and limits.memory; what is not there is not bounded.
//
// Ours yields the containers of Pods that the quotas are charged for, and how many Pods have such. But for these containers
// they are taken to be as the template: what they use beside, counts as used by others.
func QuotaLeft(quotas []corev1.ResourceQuota, template *corev1.PodTemplateSpec, ours iter.Seq2[[]corev1.Container, int64],
) corev1.ResourceList {
	left := corev1.ResourceList{}
	if len(quotas) == 0 {
		return left
	}
	pod := podOf(template)
	usedByOurs := chargeOfAll(pod, ours)
	for i := range quotas {
		q := &quotas[i]
		if !charges(q, pod) {
			continue
		}
		for name, hard := range q.Status.Hard {
			size, bounds := sizeOf(name)
			if !bounds {
				continue
			}
			unused := less(hard, less(q.Status.Used[name], usedByOurs[name]))
			if least, bounded := left[size]; !bounded || unused.Cmp(least) < 0 {
				left[size] = unused
			}
		}
	}
	return left
}

// chargeOfAll returns what Pods use together.
func chargeOfAll(pod *corev1.Pod, containers iter.Seq2[[]corev1.Container, int64]) corev1.ResourceList {
	all := corev1.ResourceList{}
	one := &corev1.Pod{Spec: pod.Spec}
	for has, n := range containers {
		one.Spec.Containers = has
		for name, quantity := range chargeOf(one) {
			part := quantity.DeepCopy() // charges by two names share it
			part.Mul(n)
			sum := all[name]
			sum.Add(part)
			all[name] = sum
		}
	}
	return all
}

// sizeOf returns which of the sizes of Pods a quota bounds by a name.
func sizeOf(name corev1.ResourceName) (size corev1.ResourceName, bounds bool) {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceRequestsCPU:
		return corev1.ResourceRequestsCPU, true
	case corev1.ResourceMemory, corev1.ResourceRequestsMemory:
		return corev1.ResourceRequestsMemory, true
	case corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
		return name, true
	}
	return "", false
}

// less is a-b, but not less than 0.
func less(a, b resource.Quantity) resource.Quantity {
	d := a.DeepCopy()
	d.Sub(b)
	if d.Sign() < 0 {
		return resource.Quantity{}
	}
	return d
}

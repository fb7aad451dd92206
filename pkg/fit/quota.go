// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// headroom returns how many further replicas the quotas of the namespace allow.
func (r *replica) headroom(quotas []corev1.ResourceQuota) int64 {
	n := int64(unlimited)
	charge := chargeOf(r.pod)
	for i := range quotas {
		if q := &quotas[i]; charges(q, r.pod) {
			n = min(n, left(q, charge))
		}
	}
	return n
}

// left returns how many times the charge is left of a quota.
func left(q *corev1.ResourceQuota, charge corev1.ResourceList) int64 {
	n := int64(unlimited)
	for name, hard := range q.Status.Hard {
		part, charged := charge[name]
		if !charged {
			continue
		}
		unused := hard.DeepCopy()
		unused.Sub(q.Status.Used[name])
		n = min(n, quotient(whole(name, unused), whole(name, part)))
	}
	return n
}

// whole is a quantity in the units that are used: milli of CPU, and whole ones of all else.
func whole(name corev1.ResourceName, q resource.Quantity) int64 {
	if strings.HasSuffix(string(name), string(corev1.ResourceCPU)) {
		return q.MilliValue()
	}
	return q.Value()
}

// chargeOf returns what a Pod uses of each resource by the name that quotas know it by.
func chargeOf(pod *corev1.Pod) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	charge := corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one}
	for name, request := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
		charge[name] = request
		charge[corev1.DefaultResourceRequestsPrefix+name] = request
	}
	for name, limit := range resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}) {
		charge["limits."+name] = limit
	}
	return charge
}

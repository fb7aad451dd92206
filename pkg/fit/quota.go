// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// headroom returns how many further replicas the quotas of the namespace allow.
func (r *replica) headroom(quotas []corev1.ResourceQuota) int64 {
	n := int64(unlimited)
	charge := r.charge()
	for i := range quotas {
		if q := &quotas[i]; r.chargedBy(q) {
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

// charge returns what one replica uses of each resource by the name that quotas know it by.
func (r *replica) charge() corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	charge := corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one}
	for name, request := range resourcehelper.PodRequests(r.pod, resourcehelper.PodResourcesOptions{}) {
		charge[name] = request
		charge[corev1.DefaultResourceRequestsPrefix+name] = request
	}
	for name, limit := range resourcehelper.PodLimits(r.pod, resourcehelper.PodResourcesOptions{}) {
		charge["limits."+name] = limit
	}
	return charge
}

// chargedBy reports whether a quota is charged for the replica: all its scopes hold for it.
func (r *replica) chargedBy(q *corev1.ResourceQuota) bool {
	for _, scope := range q.Spec.Scopes {
		if !r.in(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}) {
			return false
		}
	}
	return q.Spec.ScopeSelector == nil || !slices.ContainsFunc(q.Spec.ScopeSelector.MatchExpressions,
		func(s corev1.ScopedResourceSelectorRequirement) bool { return !r.in(s) })
}

// in reports whether one scope holds. One that is not known here is taken not to, so that its quota does not bound the
// estimate.
func (r *replica) in(s corev1.ScopedResourceSelectorRequirement) bool {
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return r.pod.Spec.ActiveDeadlineSeconds != nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return r.pod.Spec.ActiveDeadlineSeconds == nil
	case corev1.ResourceQuotaScopeBestEffort:
		return r.bestEffort()
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !r.bestEffort()
	case corev1.ResourceQuotaScopePriorityClass:
		return inClasses(s, r.pod.Spec.PriorityClassName)
	}
	return false
}

// bestEffort reports whether the replica requests and limits neither CPU nor memory.
func (r *replica) bestEffort() bool {
	options := resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
	requests, limits := resourcehelper.PodRequests(r.pod, options), resourcehelper.PodLimits(r.pod, options)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := requests[name], limits[name]
		if !request.IsZero() || !limit.IsZero() {
			return false
		}
	}
	return true
}

func inClasses(s corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	case corev1.ScopeSelectorOpIn:
		return slices.Contains(s.Values, class)
	}
	return !slices.Contains(s.Values, class)
}

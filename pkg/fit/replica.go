// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Workload is what further replicas would be of. All fields are required.
type Workload struct {
	Namespace string
	// Selector matches its Pods.
	Selector labels.Selector
	Template *corev1.PodTemplateSpec
}

// replica is one more Pod of a workload, as the API server would make it of the template.
type replica struct {
	namespace unique.Handle[string]
	selector  labels.Selector
	pod       *corev1.Pod
	labels    labels.Set
	requests  Amounts
	*admission
}

func newReplica(w *Workload) *replica {
	pod := podOf(w.Template)
	constraints := constraintsOf(&pod.Spec)
	return &replica{
		namespace: unique.Make(w.Namespace),
		selector:  w.Selector,
		pod:       pod,
		labels:    pod.Labels,
		requests:  requestsOf(pod, resourcehelper.PodResourcesOptions{}),
		admission: constraints.admission(),
	}
}

// ours reports whether a Pod is a replica of the workload.
func (r *replica) ours(p *Pod) bool {
	return p.Namespace == r.namespace && r.selector.Matches(&p.Labels)
}

// podOf is the Pod of a template, with the defaults that a Pod gets and a template does not: what is limited and not
// requested is requested up to the limit.
func podOf(template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: *template.Spec.DeepCopy()}
	for i := range pod.Spec.Containers {
		requestLimits(&pod.Spec.Containers[i].Resources, anyResource)
	}
	for i := range pod.Spec.InitContainers {
		requestLimits(&pod.Spec.InitContainers[i].Resources, anyResource)
	}
	if r := pod.Spec.Resources; r != nil && len(r.Limits) > 0 {
		requestOfContainers(pod)
		requestLimits(r, resourcehelper.IsSupportedPodLevelResource)
	}
	return pod
}

func anyResource(corev1.ResourceName) bool { return true }

func requestLimits(r *corev1.ResourceRequirements, which func(corev1.ResourceName) bool) {
	for name, limit := range r.Limits {
		if which(name) {
			requestUnless(&r.Requests, name, limit)
		}
	}
}

// requestOfContainers has a Pod that is limited as a whole request what its containers do.
func requestOfContainers(pod *corev1.Pod) {
	requests := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if request, found := requests[name]; found {
			requestUnless(&pod.Spec.Resources.Requests, name, request)
		}
	}
}

// requestUnless requests a resource of which no request is there yet.
func requestUnless(requests *corev1.ResourceList, name corev1.ResourceName, request resource.Quantity) {
	if _, found := (*requests)[name]; found {
		return
	}
	if *requests == nil {
		*requests = corev1.ResourceList{}
	}
	(*requests)[name] = request
}

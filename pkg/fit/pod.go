// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"maps"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Pod is what matters of a Pod. One that has neither a node nor waits has ended, and takes no room. It is comparable.
type Pod struct {
	Namespace   unique.Handle[string]
	Node        unique.Handle[string] // the zero value if it has none
	Labels      compact.Named
	Requests    Amounts
	Terminating bool
	Waiting     *Waiting // nil once it has a node
}

// Waiting is what matters of a Pod as long as it has no node.
type Waiting struct {
	Priority int32
	// Blocked is set if it will take no room for now, however much there is.
	Blocked     bool
	Constraints Constraints
}

// Constraints say which nodes admit a Pod.
type Constraints struct {
	NodeSelector map[string]string
	Affinity     *corev1.NodeAffinity
	Tolerations  []corev1.Toleration
}

// PodOf reads a Pod. The record shares parts of the spec, and only as long as the Pod waits for a node.
func PodOf(p *corev1.Pod) Pod {
	record := Pod{
		Namespace:   unique.Make(p.Namespace),
		Labels:      compact.Named{Labels: compact.LabelsOf(p.Labels, p.Name), Name: p.Name},
		Terminating: p.DeletionTimestamp != nil,
	}
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return record
	}
	options := resourcehelper.PodResourcesOptions{}
	if resized(p) { // it takes the larger of both sizes
		options.UseStatusResources, options.InPlacePodLevelResourcesVerticalScalingEnabled = true, true
	}
	record.Requests = requestsOf(p, options)
	if p.Spec.NodeName != "" {
		record.Node = unique.Make(p.Spec.NodeName)
		return record
	}
	record.Waiting = &Waiting{
		Priority:    schedulinghelper.PodPriority(p),
		Blocked:     blocked(p),
		Constraints: constraintsOf(&p.Spec),
	}
	return record
}

// resized is false where the status tells of no other requests than the spec, as nearly always. To consider both
// takes three times as long, and is done for each Pod that changes. Of one with very many containers it takes the square of
// their number: that one is not considered.
func resized(p *corev1.Pod) bool {
	if len(p.Spec.Containers)+len(p.Spec.InitContainers) > mostContainers {
		return false
	}
	return p.Status.AllocatedResources != nil || p.Status.Resources != nil || resourcehelper.IsPodResizeInfeasible(p) ||
		slices.ContainsFunc(p.Spec.Containers, resizedIn(p.Status.ContainerStatuses)) ||
		slices.ContainsFunc(p.Spec.InitContainers, resizedIn(p.Status.InitContainerStatuses))
}

const mostContainers = 256

func resizedIn(statuses []corev1.ContainerStatus) func(corev1.Container) bool {
	return func(c corev1.Container) bool {
		return slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool {
			other := func(has corev1.ResourceList) bool { return has != nil && !sameList(has, c.Resources.Requests) }
			return s.Name == c.Name && (other(s.AllocatedResources) || s.Resources != nil && other(s.Resources.Requests))
		})
	}
}

func sameList(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

func requestsOf(p *corev1.Pod, options resourcehelper.PodResourcesOptions) Amounts {
	a := amountsOf(resourcehelper.PodRequests(p, options))
	a.Pods = 1
	return a
}

func constraintsOf(spec *corev1.PodSpec) Constraints {
	c := Constraints{NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations}
	if spec.Affinity != nil {
		c.Affinity = spec.Affinity.NodeAffinity
	}
	return c
}

// blocked reports whether the Pod will stay without a node although there may seem to be room for it: it is held back, or
// the scheduler has tried it without success, maybe because of a rule that is not considered here.
func blocked(p *corev1.Pod) bool {
	if p.DeletionTimestamp != nil || len(p.Spec.SchedulingGates) > 0 {
		return true
	}
	return tried(p) && hasOtherRules(&p.Spec)
}

// tried reports whether the scheduler found no node.
func tried(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

// hasOtherRules reports whether more decides on a Pod's node than its requests and constraints.
func hasOtherRules(spec *corev1.PodSpec) bool {
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	if len(spec.TopologySpreadConstraints) > 0 || len(spec.ResourceClaims) > 0 {
		return true
	}
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }) ||
		slices.ContainsFunc(spec.Containers, usesHostPort)
}

func usesHostPort(c corev1.Container) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 })
}

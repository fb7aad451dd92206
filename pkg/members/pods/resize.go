// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Resize is what became of the last resize of a Pod in place.
type Resize struct {
	State ResizeState
	// Since is when it came to be in that state, by its node's clock, in whole seconds. Zero: none, or its status does not say.
	Since time.Time
	// Observed is false while its node has not told anything of the Pod's present spec: State is then that of an earlier one, and
	// a resize that was just asked for is [ResizeNone] still. A node that tells no generations has observed the spec once it
	// tells of a resize, or that the containers have what the spec says.
	Observed bool
}

// ResizeState is what a node says of a resize.
type ResizeState uint8

// The states of a resize.
const (
	ResizeNone       ResizeState = iota // none was asked for, or it is done
	ResizeInProgress                    // the node does it
	ResizeDeferred                      // the node has no room for it now
	ResizeInfeasible                    // the node cannot do it ever
	ResizeError                         // the node tried, and failed; it tries again
)

// resize is a Resize as it is kept of a Pod that is being resized.
type resize struct {
	state ResizeState
	since instant
}

// resizeOf reads the conditions, of each type the first. What is pending is about a later size than what is in progress.
func resizeOf(p *corev1.Pod) (r resize, observed int64) {
	var pending, progress *corev1.PodCondition
	for i := range p.Status.Conditions {
		switch c := &p.Status.Conditions[i]; {
		case c.Status != corev1.ConditionTrue:
		case c.Type == corev1.PodResizePending && pending == nil:
			pending = c
		case c.Type == corev1.PodResizeInProgress && progress == nil:
			progress = c
		}
	}
	switch {
	case pending != nil && pending.Reason == corev1.PodReasonInfeasible:
		r.state, progress = ResizeInfeasible, pending
	case pending != nil:
		r.state, progress = ResizeDeferred, pending
	case progress != nil && progress.Reason == corev1.PodReasonError:
		r.state = ResizeError
	case progress != nil:
		r.state = ResizeInProgress
	default:
		return resize{}, 0
	}
	r.since = instantOf(progress.LastTransitionTime)
	return r, progress.ObservedGeneration
}

// observes reports whether the Pod's node has seen its present spec. The generation is what the condition says of the last resize.
func observes(p *corev1.Pod, r resize, generation int64, differs bool) bool {
	if told := max(p.Status.ObservedGeneration, generation); told > 0 {
		return told >= p.Generation
	}
	return r.state != ResizeNone || !differs
}

// mostContainers bounds the containers whose statuses are searched: that takes the square of their number.
const mostContainers = 256

// actual is what containers have, each as four amounts, in the order of the spec.
type actual = unique.Handle[string]

// actualOf is the zero value if they have what the spec says, as far as that is told: so it is for nearly all Pods.
func actualOf(p *corev1.Pod) actual {
	if len(p.Spec.Containers) > mostContainers {
		return actual{}
	}
	packed, differs := make([]byte, 0, 128), false
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		var has corev1.ResourceRequirements
		if told := statusOf(p, c.Name); told != nil && told.Resources != nil {
			has = *told.Resources
			differs = differs || !sameResources(has.Requests, c.Resources.Requests) || !sameResources(has.Limits, c.Resources.Limits)
		}
		packed = appendResources(appendResources(packed, has.Requests), has.Limits)
	}
	if !differs {
		return actual{}
	}
	return unique.Make(string(packed))
}

func statusOf(p *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; s.Name == container {
			return s
		}
	}
	return nil
}

func sameResources(a, b corev1.ResourceList) bool { return resourcesIn(a) == resourcesIn(b) }

// actualIn is what containers of a Pod have, by what its spec says of them.
func actualIn(packed actual, containers []Container) []Container {
	if packed == (actual{}) {
		return nil
	}
	all, rest := make([]Container, len(containers)), packed.Value()
	for i, c := range containers {
		c.Requests, rest = cutResources(rest)
		c.Limits, rest = cutResources(rest)
		all[i] = c
	}
	return all
}

// resizable is how API servers know: by the first container that runs.
func resizable(p *corev1.Pod) bool {
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; s.State.Running != nil {
			return s.Resources != nil
		}
	}
	return true
}

// isStatic reports whether no API server resizes the Pod, whatever its node can.
func isStatic(p *corev1.Pod) bool {
	_, mirrored := p.Annotations[corev1.MirrorPodAnnotationKey]
	source := p.Annotations[sourceAnnotation]
	return mirrored || source != "" && source != sourceAPI || p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows
}

// Where a kubelet says that it has a Pod from.
const (
	sourceAnnotation = "kubernetes.io/config.source"
	sourceAPI        = "api"
)

// Restarts are the resources with whose change a container restarts.
type Restarts struct{ CPU, Memory bool }

func restartsOf(c *corev1.Container) (r Restarts) {
	for _, policy := range c.ResizePolicy {
		if policy.RestartPolicy == corev1.RestartContainer {
			r.CPU = r.CPU || policy.ResourceName == corev1.ResourceCPU
			r.Memory = r.Memory || policy.ResourceName == corev1.ResourceMemory
		}
	}
	return r
}

func appendRestarts(packed []byte, r Restarts) []byte {
	return compact.AppendNumber(packed, bit(r.CPU)|bit(r.Memory)<<1)
}

func cutRestarts(packed string) (Restarts, string) {
	bits, rest := compact.CutNumber(packed)
	return Restarts{CPU: bits&1 != 0, Memory: bits&2 != 0}, rest
}

func bit(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

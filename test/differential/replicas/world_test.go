// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

const (
	namespace = "shop"
	name      = "web"
	rival     = "rival"
)

// world is what both controllers see.
type world struct {
	hpa        *autoscalingv2.HorizontalPodAutoscaler
	target     target
	pods       []pod
	answers    map[string]answer // by question
	clusters   int
	drained    int         // the cluster that is being drained, or -1
	uncreated  map[int]int // Pods that clusters should have and have not
	rivals     bool        // another autoscaler of the same Pods is known
	idle       bool        // there is often nothing to do, and the spec allows zero replicas
	statusFail bool        // the status cannot be written
	masked     bool        // the statuses differ in what is not compared, and so does whether there is one to write
}

// target is the workload's scale, and what becomes of those who want to read or write it.
type target struct {
	replicas, statusReplicas int32
	selector                 string
	getErr, updateErr        error
	conflicts                int // writes that fail before the next one
}

type pod struct {
	*corev1.Pod
	cluster int
	// local is its name in its cluster; the Pod's own is its name in the union of clusters.
	local string
}

// answer is to one question for a metric. Samples are by a Pod's name in the union.
type answer struct {
	err     error
	samples map[string]sample
	values  []int64
}

type sample struct {
	at      time.Time
	window  time.Duration
	value   int64
	cluster int
	local   string
}

// question names what is asked for one metric.
func question(m autoscalingv2.MetricSpec) string {
	switch {
	case m.Resource != nil:
		return "resource/" + string(m.Resource.Name) + "/"
	case m.ContainerResource != nil:
		return "resource/" + string(m.ContainerResource.Name) + "/" + m.ContainerResource.Container
	case m.Pods != nil:
		return "pods/" + m.Pods.Metric.Name
	case m.Object != nil:
		return "object/" + m.Object.Metric.Name
	case m.External != nil:
		return "external/" + m.External.Metric.Name
	}
	return ""
}

// event is said of the autoscaler.
type event struct{ Type, Reason, Message string }

// outcome is what one reconcile leads to.
type outcome struct {
	Writes []int32 // replicas, each time that they were tried
	Status autoscalingv2.HorizontalPodAutoscalerStatus
	Events []event
}

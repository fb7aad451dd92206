// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Decision is what a question leads to. If Rescale is true, Replicas are to be written, and the decision is complete
// only after [Decision.Scaled] or [Decision.Refused].
type Decision struct {
	// Rescale says that the workload is to be told a new number of replicas.
	Rescale bool
	// Replicas are what the fleet, or each of the Copies, should run: as many as it was told if that cannot be decided, and as many as
	// were tried if they are refused. Means nothing if there is no scale.
	Replicas int32
	// Status is to be stored if it differs from the question's.
	Status autoscalingv2.HorizontalPodAutoscalerStatus
	// Events are to be recorded, in this order.
	Events []Event
	// State is for the next question.
	State State
	// Err is why the decision could not be made, or why it was made without some of the metrics. It has been said in
	// Status and Events; [SpecError] tells faults of the spec.
	Err error
	// Explanation says how the decision was come to.
	Explanation Explanation

	plan plan
}

// plan is what must be known once the replicas are written.
type plan struct {
	generation  int64
	behavior    *autoscalingv2.HorizontalPodAutoscalerBehavior
	current     int32
	before      int32 // desiredReplicas of the status as it was
	metrics     []autoscalingv2.MetricStatus
	zeroIsOurs  bool   // the spec allows zero replicas, and has a metric that can end it
	description string // of the workload
}

// Event is said to people about the autoscaler.
type Event struct {
	Type    string // corev1.EventTypeNormal or corev1.EventTypeWarning
	Reason  string
	Message string
}

// Explanation says how a decision was come to. What was not reached is zero.
type Explanation struct {
	// Metrics say what each metric asked for, in the order of the spec.
	Metrics []Proposal
	// Metric is the name of the one that asked for most.
	Metric string
	// Asked is what it asked for.
	Asked int32
	// Recommended is the same, or more if that could not be believed.
	Recommended int32
	// Window is what earlier recommendations say.
	Window Window
	// Stabilized is what windows made of it.
	Stabilized int32
	// Rate is how far replicas may go at once.
	Rate Rate
	// Limited is what the rate and the bounds made of it.
	Limited int32
	// Basis is what the decision was made by.
	Basis Basis
	// Unseen are the clusters whose Pods, or parts of any metric, cannot be seen, in name order.
	Unseen []Unseen
	// Held says that replicas would have been taken away if all clusters could be seen.
	Held bool
	// Reason is why replicas change, for people; empty if nothing calls for it.
	Reason string
}

// Unseen is a cluster that cannot be seen, and the first reason found.
type Unseen struct {
	Cluster string
	Reason  fleet.Reason
}

// Proposal is what one metric asked for.
type Proposal struct {
	// Metric is its name for people; empty if it could not be used.
	Metric   string
	Replicas int32
	// Err is why it could not be used.
	Err error
	// Pods say how those of each cluster counted, in name order; empty if the metric is not of Pods.
	Pods []PodCount
	// Working is how it came to the number; the zero value if it did not.
	Working Working
}

// PodCount says how the Pods of one cluster counted for one metric. Their sum is the number of Pods, with those that the
// cluster should have and has not.
type PodCount struct {
	Cluster string
	// Ignored are leaving. Unready are not ready to be measured. Missing run and were not measured. Counted were.
	Ignored, Unready, Missing, Counted int
	// Used is what the counted ones use, in milli; Requests, of a utilization, what they request.
	Used, Requests int64
}

func (d *Decision) warn(reason, message string) {
	d.Events = append(d.Events, Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message})
}

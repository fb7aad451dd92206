// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
)

// Question is all that a decision is made of. Nothing in it is changed.
type Question struct {
	// Namespace of the autoscaler, for what is said to people.
	Namespace string
	// Generation of the autoscaler, for the status.
	Generation int64
	// Spec is valid and has its defaults.
	Spec autoscalingv2.HorizontalPodAutoscalerSpec
	// Status is the one stored last; its conditions and times are carried on.
	Status autoscalingv2.HorizontalPodAutoscalerStatus
	// Scale is the workload as a whole.
	Scale Scale
	// Clusters are those where the workload is placed, each once, in any order. None is as one without Pods.
	Clusters []Cluster
	// Copies is in how many clusters the workload runs whole: each runs Scale.Replicas, and the decision, with its bounds, policies and
	// windows, is of that number, as everywhere in Karmada. One at most: the clusters divide Scale.Replicas.
	Copies int
	// Template is what a Pod of the workload requests. It stands in for Pods that are counted though never seen, and is
	// not needed where there are none.
	Template *Requests
	// Metrics are the answers to Spec.Metrics, in that order. Not needed where [NeedsMetrics] is false.
	Metrics []Metric
	// State is the last decision's.
	State State
	// Options are the controller's.
	Options Options
	// Now is the hub's time.
	Now time.Time
}

// Scale is the scale subresource of the workload.
type Scale struct {
	// Replicas is spec.replicas: what the fleet, or each of the Copies, was told to run. Never a sum of what clusters say.
	Replicas int32
	// StatusReplicas is status.replicas, of all clusters together. Not used where clusters say theirs.
	StatusReplicas int32
	// Selector is status.selector, in the text form of a label selector.
	Selector string
	// Err is why there is none; then nothing else of it is used. It is said to people as it is.
	Err error
}

// Options are what the controller's flags say for all autoscalers.
type Options struct {
	// StabilizationWindow is for how long a higher recommendation keeps the replicas up, where the spec does not say.
	StabilizationWindow time.Duration
	// Tolerance is by how much usage may differ from its target, as a part of it, where the spec does not say.
	Tolerance float64
	// CPUInitializationPeriod is for how long after its start a Pod's cpu counts only if it was measured while Ready.
	CPUInitializationPeriod time.Duration
	// InitialReadinessDelay is until when after its start a Pod that became unready was never ready.
	InitialReadinessDelay time.Duration
}

// minReplicas is the spec's, or the default.
func (q *Question) minReplicas() int32 { return ptr.Deref(q.Spec.MinReplicas, 1) }

// many reports whether the rules for several clusters hold.
func (q *Question) many() bool { return len(q.Clusters) > 1 }

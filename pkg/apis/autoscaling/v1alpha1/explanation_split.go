// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SplitExplanation is where the bounds of each cluster come from. The terms of a bound add up to it.
type SplitExplanation struct {
	// policy is the type of spec.federatedHPAAssignment.
	// Example: StaticWeighted
	// +kubebuilder:validation:MaxLength=64
	// +required
	Policy string `json:"policy"`

	// action is the last step that moved bounds, as its Event is called. Absent: it is not known.
	// Example: BoundsSplit
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Action string `json:"action,omitempty"`

	// moved is when that was.
	// Example: "2027-03-01T09:30:00.000000Z"
	// +optional
	Moved *metav1.MicroTime `json:"moved,omitempty"`

	// min and max are the bounds of the fleet.
	// Example: 3
	// +required
	Min int32 `json:"min"`

	// max is spec.maxReplicas.
	// Example: 12
	// +required
	Max int32 `json:"max"`

	// keptMin is the part of min that nobody else gets, as clusters keep it that are silent and may be back at once, or refuse.
	// Example: 1
	// +optional
	KeptMin int64 `json:"keptMin,omitempty"`

	// keptMax is the part of max that nobody else gets, as these clusters keep it.
	// Example: 4
	// +optional
	KeptMax int64 `json:"keptMax,omitempty"`

	// floor is what the others keep all the same, together, lest a cluster that is away costs them their autoscalers.
	// Example: 2
	// +optional
	Floor int64 `json:"floor,omitempty"`

	// budget is what the maxima of the clusters that can be told add up to, but for unassigned: max - keptMax, and at least floor.
	// Example: 8
	// +optional
	Budget int64 `json:"budget,omitempty"`

	// unassigned is the part of budget that the ceilings of clusters leave to nobody.
	// Example: 0
	// +optional
	Unassigned int32 `json:"unassigned,omitempty"`

	// clusters are 8 at most: those that are away first, then those with the greatest maxima.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Clusters []ClusterSplit `json:"clusters,omitempty"`

	// others are the clusters that are not named.
	// +optional
	Others *OtherSplit `json:"others,omitempty"`
}

// ClusterSplit is what one cluster gets, and what that comes from.
type ClusterSplit struct {
	// name is that of the cluster.
	// Example: east
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// part is how the cluster takes part. Silent: it cannot be read. Refusing: it does not take what is written to it. Leaving: not at
	// all. Absent: fully.
	// Example: Silent
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Part string `json:"part,omitempty"`

	// why says why the cluster does not take part fully, in one word.
	// Example: Timeout
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Why string `json:"why,omitempty"`

	// standing is Cordoned or Drained. Absent: neither.
	// Example: Cordoned
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Standing string `json:"standing,omitempty"`

	// keeps: the cluster is away, and its bounds are nobody else's.
	// +optional
	Keeps bool `json:"keeps,omitempty"`

	// held: it may not scale down for now, as clusters of a lower priority shrink first.
	// +optional
	Held bool `json:"held,omitempty"`

	// balks: its workload refused lately to be scaled.
	// +optional
	Balks bool `json:"balks,omitempty"`

	// min is the minReplicas of its autoscaler; 0: it has none.
	// Example: 1
	// +optional
	Min int32 `json:"min,omitempty"`

	// max is the maxReplicas of its autoscaler; 0: it has none.
	// Example: 7
	// +optional
	Max int32 `json:"max,omitempty"`

	// minTerms are what min adds up from.
	// Example: [{from: Weight, replicas: 1, of: 3, weight: 3, weights: 6}]
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	MinTerms []BoundTerm `json:"minTerms,omitempty"`

	// maxTerms are what max adds up from.
	// Example: [{from: Weight, replicas: 6, of: 12, weight: 3, weights: 6}]
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	MaxTerms []BoundTerm `json:"maxTerms,omitempty"`

	// runs is how many replicas it was told to run.
	// Example: 5
	// +optional
	Runs int32 `json:"runs,omitempty"`

	// ready is how many of its Pods are Ready.
	// Example: 5
	// +optional
	Ready int32 `json:"ready,omitempty"`

	// waiting are those of its Pods that no node takes.
	// Example: 1
	// +optional
	Waiting int32 `json:"waiting,omitempty"`

	// hosts is how many replicas it can host in all. Absent: not known, or not asked.
	// Example: 20
	// +optional
	Hosts *int32 `json:"hosts,omitempty"`

	// load is its load in thousandths of the target, by the metric that takes most. Absent: not known.
	// Example: 900
	// +optional
	Load *int64 `json:"load,omitempty"`

	// weight is its staticWeight. Policy StaticWeighted.
	// Example: 3
	// +optional
	Weight int64 `json:"weight,omitempty"`

	// priority is its priority. Policy Prioritized.
	// Example: 10
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// floor is its autoscalingMinThreshold.
	// Example: 1
	// +optional
	Floor int32 `json:"floor,omitempty"`

	// ceiling is its autoscalingMaxThreshold. Absent: it has none.
	// Example: 20
	// +optional
	Ceiling *int32 `json:"ceiling,omitempty"`

	// entries are the indices of those of clusterAutoscalingPreference that select it, 16 at most.
	// Example: [0]
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Entries []int32 `json:"entries,omitempty"`
}

// BoundTerm is a part of a bound, and where it comes from.
type BoundTerm struct {
	// from is where it comes from. Whole: every cluster gets the bound whole. Running: what it runs, or its part of the minimum, is not
	// taken away. Threshold: autoscalingMinThreshold comes first. Weight: its share, which is of * weight // weights (// drops the
	// fraction), one more for some as long as rounding left some, and room at most. Equal: the same of what the weights left, of which
	// each gets the same. Hosted: what it can host, which is the least of of and room. First: the same of what nobody is known to host.
	// AtLeastOne: an autoscaler needs 1. Kept: a cluster that is away does not cost it its autoscaler. Before: it had that. Otherwise
	// the step that moved it, by the name of its Event, or Withdrawn: it was given more than there was, and had not got it yet.
	// Example: Weight
	// +kubebuilder:validation:MaxLength=64
	// +required
	From string `json:"from"`

	// replicas are the part. Negative: they were taken away.
	// Example: 6
	// +required
	Replicas int32 `json:"replicas"`

	// of is what was left to give when the cluster got its part.
	// Example: 12
	// +optional
	Of int64 `json:"of,omitempty"`

	// weight is that of the cluster. Weight, Equal.
	// Example: 3
	// +optional
	Weight int64 `json:"weight,omitempty"`

	// weights are those of all among whom it was divided. Weight, Equal.
	// Example: 6
	// +optional
	Weights int64 `json:"weights,omitempty"`

	// room is the most that the cluster could take. Absent: its share was no more than that.
	// Example: 5
	// +optional
	Room *int64 `json:"room,omitempty"`
}

// OtherSplit is what several clusters get.
type OtherSplit struct {
	// clusters is how many there are.
	// Example: 12
	// +required
	Clusters int32 `json:"clusters"`

	// min is what the minima come to of those that can be told.
	// Example: 12
	// +optional
	Min int64 `json:"min,omitempty"`

	// max is what the maxima come to of those that can be told.
	// Example: 40
	// +optional
	Max int64 `json:"max,omitempty"`

	// keptMin is what the minima come to of those that are away and keep them.
	// Example: 0
	// +optional
	KeptMin int64 `json:"keptMin,omitempty"`

	// keptMax is what the maxima come to of those that are away and keep them.
	// Example: 0
	// +optional
	KeptMax int64 `json:"keptMax,omitempty"`

	// runs is how many replicas they were told to run.
	// Example: 30
	// +optional
	Runs int64 `json:"runs,omitempty"`
}

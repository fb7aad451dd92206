// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DecisionExplanation is how the controller came to its last decision that was stored, in integers with which the decision can be
// made again. It is at most 8 KiB, and is written with the rest of the status, or when another step limits. Central mode: amounts are
// in milli (cpu: milli-cores, memory: milli-bytes); utilizations in percent. Distributed mode: what is decided is split.
type DecisionExplanation struct {
	// time is when the decision was made.
	// Example: "2027-03-01T09:30:00.000000Z"
	// +required
	Time metav1.MicroTime `json:"time"`

	// basis is what the decision was made by. Metrics: by the metrics. NoMetrics: the metrics cannot be used, so nothing changes.
	// MaxReplicas, MinReplicas: by that bound alone, as there are more, or fewer, replicas. Disabled: somebody else scaled to zero.
	// Split: distributed mode, where the clusters' own autoscalers decide on replicas.
	// Example: Metrics
	// +kubebuilder:validation:MaxLength=64
	// +required
	Basis string `json:"basis"`

	// limitedBy is the last step that changed the number: Held, Window, Policy, Bounds or FromZero; or else what the metric that
	// asked for most came to: see outcome of the metrics; or, without metrics, the basis. Distributed mode: what keeps bounds from moving.
	// ClustersAway: clusters are silent, or maxima exceed the fleet's. AllSaturated: no cluster can take what another cannot host.
	// Thresholds: autoscalingMaxThreshold leaves a part of maxReplicas to nobody. Settled: nothing does.
	// Example: Bounds
	// +kubebuilder:validation:MaxLength=64
	// +required
	LimitedBy string `json:"limitedBy"`

	// currentReplicas are the replicas that the decision began with. Distributed mode: all that run.
	// Example: 6
	// +kubebuilder:validation:Minimum=0
	// +required
	CurrentReplicas int32 `json:"currentReplicas"`

	// desiredReplicas are the replicas decided on. Distributed mode: what the clusters' autoscalers want together.
	// Example: 8
	// +kubebuilder:validation:Minimum=0
	// +required
	DesiredReplicas int32 `json:"desiredReplicas"`

	// copies is in how many clusters the workload runs whole; then all replicas but those of metrics are of each of them. Absent: the
	// clusters divide the replicas.
	// Example: 3
	// +optional
	Copies int32 `json:"copies,omitempty"`

	// metrics say what each metric asks for, in the order of spec.metrics. Where they do not fit, those that ask for least are left out.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Metrics []MetricExplanation `json:"metrics,omitempty"`

	// omittedMetrics are so many metrics that do not fit.
	// Example: 2
	// +optional
	OmittedMetrics int32 `json:"omittedMetrics,omitempty"`

	// unseen are clusters that cannot be seen, 8 at most; unseenClusters says how many there are.
	// Example: [{cluster: west, reason: Timeout}]
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Unseen []UnseenCluster `json:"unseen,omitempty"`

	// unseenClusters is how many clusters cannot be seen. While there is one, nothing is scaled down.
	// Example: 1
	// +optional
	UnseenClusters int32 `json:"unseenClusters,omitempty"`

	// steps lead from what the metrics ask for to desiredReplicas, in order.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Steps []ExplanationStep `json:"steps,omitempty"`

	// division says what the clusters get, where each is told. Absent: the workload on the hub is told.
	// +optional
	Division *DivisionExplanation `json:"division,omitempty"`

	// split says where the bounds of each cluster come from. Distributed mode.
	// +optional
	Split *SplitExplanation `json:"split,omitempty"`
}

// UnseenCluster is a cluster that cannot be seen.
type UnseenCluster struct {
	// cluster is its name.
	// Example: west
	// +kubebuilder:validation:MaxLength=63
	// +required
	Cluster string `json:"cluster"`

	// reason is why, in one word.
	// Example: Timeout
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`
}

// MetricExplanation is what one metric asks for, and why.
type MetricExplanation struct {
	// index is that of the metric in spec.metrics.
	// Example: 0
	// +required
	Index int32 `json:"index"`

	// name is what the metric is called; it is cut where it is long.
	// Example: cpu
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Name string `json:"name,omitempty"`

	// error is why the metric cannot be used.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Error string `json:"error,omitempty"`

	// rule is how the metric comes to its number. Utilization: what Pods use in percent of their requests. AverageValue: the mean of
	// Pods. Value: a value over its target, times the Ready Pods. Share: a value over its target for each replica.
	// Example: Utilization
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Rule string `json:"rule,omitempty"`

	// target is what value is compared with, in its unit.
	// Example: 50
	// +optional
	Target int64 `json:"target,omitempty"`

	// value is what was measured: a utilization in percent, a mean or a value in milli; of the Pods that have a sample.
	// Example: 75
	// +optional
	Value int64 `json:"value,omitempty"`

	// filled is the value with Pods filled in that have no sample; see busy, idle and unready. Absent: none were.
	// Example: 60
	// +optional
	Filled *int64 `json:"filled,omitempty"`

	// busy: Pods without a sample are taken to be busy, as the others use too little.
	// +optional
	Busy bool `json:"busy,omitempty"`

	// idle: Pods without a sample are taken to be idle, as the others use too much.
	// +optional
	Idle bool `json:"idle,omitempty"`

	// unready: Pods that are not ready are taken to be idle, as the others use too much.
	// +optional
	Unready bool `json:"unready,omitempty"`

	// toleranceDown is by how much the ratio of value to target may be below 1.
	// Example: "0.1"
	// +kubebuilder:validation:MaxLength=32
	// +optional
	ToleranceDown string `json:"toleranceDown,omitempty"`

	// toleranceUp is by how much the ratio of value to target may be above 1.
	// Example: "0.1"
	// +kubebuilder:validation:MaxLength=32
	// +optional
	ToleranceUp string `json:"toleranceUp,omitempty"`

	// outcome is what came of the ratio. Scaled: it says how many replicas. WithinTolerance: nothing changes. MissingDecide: the Pods
	// filled in would turn the direction, so nothing changes. AgainstRatio: there are so many more, or fewer, Pods than replicas that
	// the number goes against the ratio, so nothing changes. Lagging: clusters have yet to hear what they were told, so nothing
	// changes. NotAboveReplicas: the value is below its target, and may lack a part, so that replicas do not rise by it.
	// Example: Scaled
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Outcome string `json:"outcome,omitempty"`

	// told are the replicas that all clusters together were told to run, which stay where nothing changes.
	// Example: 6
	// +optional
	Told int32 `json:"told,omitempty"`

	// multiplied are the Pods that the ratio is multiplied by. Rule Share: the replicas that run.
	// Example: 6
	// +optional
	Multiplied int64 `json:"multiplied,omitempty"`

	// fleet are the Pods of all clusters together. Absent: the metric is not one of Pods.
	// +optional
	Fleet *PodSums `json:"fleet,omitempty"`

	// clusters are the Pods of each cluster, 8 at most: those that lack samples first, then the largest. others are the rest.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Clusters []ClusterSums `json:"clusters,omitempty"`

	// others are the Pods of the clusters that are not named, together.
	// +optional
	Others *OtherClusterSums `json:"others,omitempty"`

	// readyUnknown: the Ready Pods, which rule Value multiplies by, could not be counted.
	// +optional
	ReadyUnknown bool `json:"readyUnknown,omitempty"`

	// lagging: clusters have yet to hear what the fleet was told. Rule Share.
	// +optional
	Lagging bool `json:"lagging,omitempty"`

	// asks are the replicas that all clusters together should run.
	// Example: 9
	// +optional
	Asks int32 `json:"asks,omitempty"`
}

// PodSums are Pods by how they count, with what they use and request, in milli. Requests are those of a utilization only. A sum of
// more than 63 bits is the greatest of 63 bits.
type PodSums struct {
	// counted Pods have a sample that counts.
	// Example: 6
	// +optional
	Counted int32 `json:"counted,omitempty"`

	// used is what counted Pods use.
	// Example: 2250
	// +optional
	Used int64 `json:"used,omitempty"`

	// requested is what counted Pods request.
	// Example: 3000
	// +optional
	Requested int64 `json:"requested,omitempty"`

	// missing Pods run, and have no sample.
	// Example: 1
	// +optional
	Missing int32 `json:"missing,omitempty"`

	// missingRequested is what missing Pods request.
	// Example: 500
	// +optional
	MissingRequested int64 `json:"missingRequested,omitempty"`

	// busy is what missing Pods would use if they were busy.
	// Example: 500
	// +optional
	Busy int64 `json:"busy,omitempty"`

	// missingByRequest are the missing Pods by what they request. Absent: there are none, or more than 4 different requests.
	// Example: [{pods: 1, request: 500}]
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	// +optional
	MissingByRequest []RequestSum `json:"missingByRequest,omitempty"`

	// unready Pods are not ready to be measured.
	// Example: 1
	// +optional
	Unready int32 `json:"unready,omitempty"`

	// unreadyRequested is what unready Pods request.
	// Example: 500
	// +optional
	UnreadyRequested int64 `json:"unreadyRequested,omitempty"`

	// ignored Pods are leaving, or have failed.
	// Example: 0
	// +optional
	Ignored int32 `json:"ignored,omitempty"`

	// unlisted are samples of Pods that no list holds: younger than it, or gone since. They may be fewer than none.
	// Example: 0
	// +optional
	Unlisted int32 `json:"unlisted,omitempty"`

	// unlistedUsed is what unlisted Pods use.
	// Example: 0
	// +optional
	UnlistedUsed int64 `json:"unlistedUsed,omitempty"`
}

// RequestSum are Pods that request the same.
type RequestSum struct {
	// pods is how many there are.
	// Example: 1
	// +required
	Pods int32 `json:"pods"`

	// request is what each requests, in milli.
	// Example: 500
	// +required
	Request int64 `json:"request"`

	// abandoned: nobody waits for their cluster, which is drained and cannot be seen.
	// +optional
	Abandoned bool `json:"abandoned,omitempty"`
}

// ClusterSums are the Pods of one cluster.
type ClusterSums struct {
	// name is that of the cluster.
	// Example: east
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	ClusterPods `json:",inline"`

	// ageSeconds is the age of the oldest sample, in seconds. Absent: there is none.
	// Example: 15
	// +optional
	AgeSeconds *int32 `json:"ageSeconds,omitempty"`
}

// OtherClusterSums are the Pods of several clusters.
type OtherClusterSums struct {
	// clusters is how many there are.
	// Example: 12
	// +required
	Clusters int32 `json:"clusters"`

	ClusterPods `json:",inline"`
}

// ClusterPods are Pods by how they count, and what those that are counted use and request, in milli.
type ClusterPods struct {
	// counted Pods have a sample that counts.
	// Example: 4
	// +optional
	Counted int32 `json:"counted,omitempty"`

	// unready Pods are not ready to be measured.
	// Example: 1
	// +optional
	Unready int32 `json:"unready,omitempty"`

	// missing Pods run, and have no sample.
	// Example: 0
	// +optional
	Missing int32 `json:"missing,omitempty"`

	// ignored Pods are leaving, or have failed.
	// Example: 0
	// +optional
	Ignored int32 `json:"ignored,omitempty"`

	// used is what counted Pods use.
	// Example: 1020
	// +optional
	Used int64 `json:"used,omitempty"`

	// requested is what counted Pods request.
	// Example: 2000
	// +optional
	Requested int64 `json:"requested,omitempty"`
}

// ExplanationStep is one step from what the metrics ask for to what is decided.
type ExplanationStep struct {
	// step is which. Metrics: the most that any metric asks for. Held: clusters cannot be seen, so nothing is scaled down. Window:
	// earlier recommendations restrain. Policy: replicas may change only so fast. Bounds: minReplicas and maxReplicas. FromZero: from
	// zero replicas at least minReplicas are run.
	// Example: Window
	// +kubebuilder:validation:MaxLength=64
	// +required
	Step string `json:"step"`

	// replicas are what the step leaves.
	// Example: 8
	// +required
	Replicas int32 `json:"replicas"`

	// upSeconds is for how long earlier recommendations count for scaling up, in seconds. Window, with spec.behavior.
	// Example: 0
	// +optional
	UpSeconds *int64 `json:"upSeconds,omitempty"`

	// lowest is the lowest of them. Absent: there is none. Bounds: minReplicas. Absent: not asked, as replicas rise.
	// Example: 8
	// +optional
	Lowest *int32 `json:"lowest,omitempty"`

	// downSeconds is for how long earlier recommendations count for scaling down, in seconds. Window.
	// Example: 300
	// +optional
	DownSeconds *int64 `json:"downSeconds,omitempty"`

	// highest is the highest of them. Absent: there is none. Bounds: maxReplicas. Absent: not asked, as replicas fall.
	// Example: 12
	// +optional
	Highest *int32 `json:"highest,omitempty"`

	// limit is the most that replicas may rise to, or the least that they may fall to. Policy.
	// Example: 16
	// +optional
	Limit *int32 `json:"limit,omitempty"`

	// policy is the one of spec.behavior that sets the limit. Absent: there is no behavior, so that replicas may double at once, and
	// always rise to 4; or the behavior allows no change in this direction.
	// Example: {type: Percent, value: 100, periodSeconds: 15}
	// +optional
	Policy *ExplainedPolicy `json:"policy,omitempty"`

	// start are the replicas when the period of the policy began.
	// Example: 8
	// +optional
	Start *int64 `json:"start,omitempty"`

	// falling: limit is the least, and not the most.
	// +optional
	Falling bool `json:"falling,omitempty"`
}

// ExplainedPolicy is a policy of spec.behavior.
type ExplainedPolicy struct {
	// type is Pods or Percent.
	// Example: Percent
	// +kubebuilder:validation:MaxLength=64
	// +required
	Type string `json:"type"`

	// value is by how many replicas, or by how many percent of them, they may change.
	// Example: 100
	// +required
	Value int32 `json:"value"`

	// periodSeconds is within what time, in seconds.
	// Example: 15
	// +required
	PeriodSeconds int32 `json:"periodSeconds"`
}

// DivisionExplanation says what the clusters get of the replicas.
type DivisionExplanation struct {
	// policy is the type of spec.replicaDistribution. Absent: the hub lacks the workload, and the clusters keep their proportion.
	// Example: StaticWeighted
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Policy string `json:"policy,omitempty"`

	// clusters are 8 at most: those that change first, then those that get most.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Clusters []ClusterDivision `json:"clusters,omitempty"`

	// others are the clusters that are not named.
	// +optional
	Others *OtherDivision `json:"others,omitempty"`
}

// ClusterDivision is what one cluster gets.
type ClusterDivision struct {
	// name is that of the cluster.
	// Example: east
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// from are the replicas that it was told before.
	// Example: 3
	// +required
	From int32 `json:"from"`

	// to are the replicas that it gets.
	// Example: 4
	// +required
	To int32 `json:"to"`

	// why says why the cluster gets other replicas than its share, in one word.
	// Example: Saturated
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Why string `json:"why,omitempty"`
}

// OtherDivision is what several clusters get.
type OtherDivision struct {
	// clusters is how many there are.
	// Example: 12
	// +required
	Clusters int32 `json:"clusters"`

	// from are the replicas that they were told before, together.
	// Example: 30
	// +required
	From int32 `json:"from"`

	// to are the replicas that they get, together.
	// Example: 36
	// +required
	To int32 `json:"to"`
}

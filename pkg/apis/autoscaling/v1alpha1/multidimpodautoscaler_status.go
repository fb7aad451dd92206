// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MultidimPodAutoscalerStatus is what is recommended, and what is known of each cluster. What it says of replicas is what
// the FederatedHPA of the MultidimPodAutoscaler says; without goals they are only counted.
type MultidimPodAutoscalerStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status speaks of.
	// Example: 3
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// lastScaleTime is when the replicas of the fleet were last changed for the goals. Absent: never.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// currentReplicas is the number of replicas that the fleet was told to run when the controller last looked.
	// Example: 12
	// +kubebuilder:validation:Minimum=0
	// +optional
	CurrentReplicas int32 `json:"currentReplicas"`

	// desiredReplicas is the number of replicas that the goals last called for. Without goals: as currentReplicas.
	// Example: 15
	// +kubebuilder:validation:Minimum=0
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas"`

	// currentMetrics are the metrics as last read, in the order of goals.metrics. One whose target is a utilization has the average
	// value, and that in percent of utilizationBase.
	// Example: [{type: Resource, resource: {name: cpu, current: {averageUtilization: 63, averageValue: 126m}}}]
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	CurrentMetrics []autoscalingv2.MetricStatus `json:"currentMetrics,omitempty"`

	// recommendation is what each container should request; with scope PerCluster, clusters have their own. Absent: not enough
	// is known yet.
	// +optional
	Recommendation *SizeRecommendation `json:"recommendation,omitempty"`

	// explanation is how recommendation was come to. Absent: there is no recommendation.
	// +optional
	Explanation *SizesExplanation `json:"explanation,omitempty"`

	// savings are what the fleet would request less if every Pod had the recommended size. Absent: there is no recommendation.
	// +optional
	Savings *Savings `json:"savings,omitempty"`

	// clusters say how each cluster takes part, in the order of their names.
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	// +optional
	Clusters []MultidimClusterStatus `json:"clusters,omitempty"`

	// conditions say whether the MultidimPodAutoscaler can do its work, and if not, why. RecommendationProvided is True if
	// there is a recommendation that is not too old. LowConfidence is True while there is little history. ConfigUnsupported is True
	// while another autoscaler governs the same workload, or the spec cannot be carried out. GoalHiddenByLimit is True while a
	// limit keeps the use of a resource so near its goal that more load would not show. Acting is False while spec.mode is
	// Observe or Paused. VerticalActuation, there once policy.updateMode was not Off, is True while Pods are given their sizes in
	// all clusters. AbleToScale, ScalingActive and ScalingLimited are those of the FederatedHPA.
	// Example: [{type: RecommendationProvided, status: "True", reason: Recommended, message: "", lastTransitionTime: "2027-03-01T09:30:00Z"}]
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// summary is the status in a few words, for `kubectl get`.
	// +optional
	Summary *MultidimPodAutoscalerSummary `json:"summary,omitempty"`
}

// Conditions of a MultidimPodAutoscaler, besides those that it has from its FederatedHPA.
const (
	// MultidimRecommendationProvided is True if there is a recommendation that is not too old.
	MultidimRecommendationProvided = "RecommendationProvided"
	// MultidimLowConfidence is True while there is so little history that the recommendation may change much.
	MultidimLowConfidence = "LowConfidence"
	// MultidimConfigUnsupported is True if the spec cannot be carried out, or another autoscaler governs the workload.
	MultidimConfigUnsupported = "ConfigUnsupported"
	// MultidimGoalHiddenByLimit is True if a limit of the template is below 1.2 times what a goal lets a Pod use.
	MultidimGoalHiddenByLimit = "GoalHiddenByLimit"
	// MultidimActing is False if spec.mode is Observe or Paused.
	MultidimActing = "Acting"
	// MultidimVerticalActuation is True while Pods are given their sizes in all clusters.
	MultidimVerticalActuation = "VerticalActuation"
)

// SizeRecommendation is what the containers of a Pod should request.
type SizeRecommendation struct {
	// containers are the recommendations, in the order of the names. One whose mode is Off has none.
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=containerName
	// +optional
	Containers []ContainerRecommendation `json:"containers,omitempty"`

	// since is when a target last changed.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// at is when it was last computed. It is written when something else is, and every hour.
	// Example: "2027-03-01T11:40:00Z"
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// ContainerRecommendation is what one container should request.
type ContainerRecommendation struct {
	// containerName is the name of the container.
	// Example: app
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	ContainerName string `json:"containerName"`

	// target is what it should request.
	// Example: {cpu: 250m, memory: 300Mi}
	// +optional
	Target Size `json:"target,omitempty,omitzero"`

	// lowerBound is the request below which it has too little.
	// Example: {cpu: 100m, memory: 250Mi}
	// +optional
	LowerBound Size `json:"lowerBound,omitempty,omitzero"`

	// upperBound is the request above which it wastes. Absent: too little is known to say.
	// Example: {cpu: 900m, memory: 800Mi}
	// +optional
	UpperBound Size `json:"upperBound,omitempty,omitzero"`

	// uncappedTarget is what target would be without any bound.
	// Example: {cpu: 250m, memory: 180Mi}
	// +optional
	UncappedTarget Size `json:"uncappedTarget,omitempty,omitzero"`

	// cappedBy says for each resource whose target is not uncappedTarget what bounds it.
	// Example: [{resource: memory, reason: MinAllowed}]
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	CappedBy []Cap `json:"cappedBy,omitempty"`
}

// Cap is what bounds the recommendation for a resource.
type Cap struct {
	// resource is cpu or memory.
	// Example: memory
	// +kubebuilder:validation:Enum=cpu;memory
	// +required
	Resource corev1.ResourceName `json:"resource"`

	// reason is the bound. MinAllowed and MaxAllowed: of the spec. GoalFloor: what a goal lets a Pod use before the fleet grows.
	// GoalLimit: a limit that follows the request would hide that. Limit: of the template. LimitRangeMin, LimitRangeMax,
	// MaxLimitRequestRatio and Quota: of the namespace. LargestNode: no node is larger. With the last two nothing is
	// recommended. GoalHiddenByLimit: a limit of the template hides what a goal measures. NothingLegal: no size is admitted.
	// Example: MaxAllowed
	// +kubebuilder:validation:MaxLength=63
	// +required
	Reason string `json:"reason"`
}

// Savings compare what Pods request with what is recommended, all Pods together.
type Savings struct {
	// requested is what the Pods request now.
	// Example: {cpu: 40, memory: 80Gi}
	// +optional
	Requested Size `json:"requested,omitempty,omitzero"`

	// recommended is what as many Pods of the recommended size would request.
	// Example: {cpu: 12500m, memory: 30Gi}
	// +optional
	Recommended Size `json:"recommended,omitempty,omitzero"`

	// saved is requested less recommended. Negative: more is recommended.
	// Example: {cpu: 27500m, memory: 50Gi}
	// +optional
	Saved Size `json:"saved,omitempty,omitzero"`

	// costPerHour is what saved costs in an hour, as a decimal number, in the currency of the prices that are known: the
	// annotations fleetscale.io/price-cpu-hour and fleetscale.io/price-gib-hour of a cluster's registration, or flags of the
	// controller. Absent: the prices are not known.
	// Example: "1.25"
	// +kubebuilder:validation:MaxLength=32
	// +optional
	CostPerHour string `json:"costPerHour,omitempty"`
}

// MultidimClusterStatus says how one cluster takes part in a MultidimPodAutoscaler.
type MultidimClusterStatus struct {
	// name is the name of the cluster's registration.
	// Example: east
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// state says how the cluster takes part.
	// Active: fully. Excluded: not at all; reason says why. Unreachable: it cannot be seen; what is recommended may rise
	// meanwhile, and does not fall. Conflict: another autoscaler governs the workload there.
	// Example: Active
	// +optional
	State ClusterState `json:"state,omitempty"`

	// reason says in one word why the cluster is in its state. Absent: there is nothing to say.
	// Example: Timeout
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Reason string `json:"reason,omitempty"`

	// message says it to people.
	// Example: no answer within 5s
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Message string `json:"message,omitempty"`

	// pods is the number of its Pods that run.
	// Example: 4
	// +kubebuilder:validation:Minimum=0
	// +optional
	Pods *int32 `json:"pods,omitempty"`

	// asRecommended is the number of them that request what is recommended.
	// Example: 1
	// +kubebuilder:validation:Minimum=0
	// +optional
	AsRecommended *int32 `json:"asRecommended,omitempty"`

	// admission reports whether new Pods of the cluster get their size. Installed: they do. Missing: deploy/member-sizes is not
	// installed there, or not whole. Ineffective: it is, and yet Pods were created without: none is evicted for its size until that
	// changes. Unknown: the cluster does not say. Absent: with updateMode Off nobody asks.
	// Example: Installed
	// +optional
	Admission SizeAdmission `json:"admission,omitempty"`

	// resizing is the number of Pods whose resize is under way.
	// Example: 1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Resizing *int32 `json:"resizing,omitempty"`

	// deferred is the number of Pods whose resize waits for room on their node.
	// Example: 1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Deferred *int32 `json:"deferred,omitempty"`

	// infeasible is the number of Pods whose node can never give them the size.
	// Example: 0
	// +kubebuilder:validation:Minimum=0
	// +optional
	Infeasible *int32 `json:"infeasible,omitempty"`

	// evictedLastHour is the number of Pods that were evicted for their size in the last hour, as far as the controller that is
	// the leader knows.
	// Example: 2
	// +kubebuilder:validation:Minimum=0
	// +optional
	EvictedLastHour *int32 `json:"evictedLastHour,omitempty"`

	// recommendation is what containers should request in this cluster. Absent: what the fleet's says.
	// +optional
	Recommendation *SizeRecommendation `json:"recommendation,omitempty"`

	// savings are those of this cluster.
	// +optional
	Savings *Savings `json:"savings,omitempty"`
}

// SizeAdmission reports whether new Pods get their size.
//
// +kubebuilder:validation:Enum=Installed;Missing;Ineffective;Unknown
type SizeAdmission string

const (
	// AdmissionInstalled is where they do.
	AdmissionInstalled SizeAdmission = "Installed"
	// AdmissionMissing is where what does it is not installed.
	AdmissionMissing SizeAdmission = "Missing"
	// AdmissionIneffective is where it is, and Pods are created without all the same.
	AdmissionIneffective SizeAdmission = "Ineffective"
	// AdmissionUnknown is where the cluster does not say.
	AdmissionUnknown SizeAdmission = "Unknown"
)

// MultidimPodAutoscalerSummary is what `kubectl get` shows and could not compute.
type MultidimPodAutoscalerSummary struct {
	// target is the workload.
	// Example: Deployment/shop
	// +kubebuilder:validation:MaxLength=317
	// +optional
	Target string `json:"target,omitempty"`

	// sized is the number of Pods that request what is recommended, of all.
	// Example: 3/12
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Sized string `json:"sized,omitempty"`

	// cpu is what a Pod requests and what is recommended, all its containers together.
	// Example: 1 -> 315m
	// +kubebuilder:validation:MaxLength=64
	// +optional
	CPU string `json:"cpu,omitempty"`

	// memory is what a Pod requests and what is recommended, all its containers together.
	// Example: 2Gi -> 780Mi
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Memory string `json:"memory,omitempty"`

	// savings are what all Pods together would request less.
	// Example: 27.5 cpu, 50Gi, 1.25/h
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Savings string `json:"savings,omitempty"`

	// state is what the MultidimPodAutoscaler is doing.
	// Learning: there is no recommendation yet. Active: there is one. Held: it may only rise, since a cluster cannot be seen.
	// Observing: spec.mode is Observe. Paused: spec.mode is Paused. Failing: it cannot recommend or scale; the conditions say why.
	// Example: Active
	// +optional
	State MultidimPodAutoscalerState `json:"state,omitempty"`
}

// MultidimPodAutoscalerState is what a MultidimPodAutoscaler is doing, in one word.
//
// +kubebuilder:validation:Enum=Learning;Active;Held;Observing;Paused;Failing
type MultidimPodAutoscalerState string

// The states of a MultidimPodAutoscaler.
const (
	MultidimLearning  MultidimPodAutoscalerState = "Learning"
	MultidimActive    MultidimPodAutoscalerState = "Active"
	MultidimHeld      MultidimPodAutoscalerState = "Held"
	MultidimObserving MultidimPodAutoscalerState = "Observing"
	MultidimPaused    MultidimPodAutoscalerState = "Paused"
	MultidimFailing   MultidimPodAutoscalerState = "Failing"
)

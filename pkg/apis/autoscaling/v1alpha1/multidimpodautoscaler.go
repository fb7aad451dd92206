// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MultidimPodAutoscaler scales one workload, which runs in many clusters, in two dimensions.
//
// Vertical: from what its containers use in all clusters it recommends what they should request, and says what that would
// save. With an updateMode other than Off Pods are created with it, resized, or evicted so that others take their place.
//
// Horizontal (goals present): it makes a FederatedHPA of its own name, which keeps the replicas in step with the load. A goal
// stated as utilization is held against a fixed amount, utilizationBase, so that a change of the requests never moves the
// replicas.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=multidimpodautoscalers,scope=Namespaced,shortName=mpa,categories={karmada-io,autoscaling}
// +kubebuilder:printcolumn:JSONPath=`.status.summary.target`,name=`TARGET`,type=string
// +kubebuilder:printcolumn:JSONPath=`.spec.policy.updateMode`,name=`MODE`,type=string,description="What becomes of the recommendation"
// +kubebuilder:printcolumn:JSONPath=`.status.currentReplicas`,name=`REPLICAS`,type=integer
// +kubebuilder:printcolumn:JSONPath=`.status.summary.sized`,name=`SIZED`,type=string,description="Pods that request what is recommended, of all"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.cpu`,name=`CPU`,type=string,description="What a Pod requests -> what is recommended"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.memory`,name=`MEMORY`,type=string,description="What a Pod requests -> what is recommended"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.savings`,name=`SAVINGS`,type=string,description="What all Pods together would request less"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.state`,name=`STATE`,type=string,description="Learning, Active, Held, Observing, Paused or Failing"
// +kubebuilder:printcolumn:JSONPath=`.metadata.creationTimestamp`,name=`AGE`,type=date
// +kubebuilder:printcolumn:JSONPath=`.status.desiredReplicas`,name=`DESIRED`,type=integer,priority=1
// +kubebuilder:printcolumn:JSONPath=`.status.lastScaleTime`,name=`LAST-SCALE`,type=date,priority=1
// +kubebuilder:printcolumn:JSONPath=`.status.conditions[?(@.type=="RecommendationProvided")].reason`,name=`REASON`,type=string,priority=1
type MultidimPodAutoscaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what a person wants: the workload, the goals that its replicas follow, and the bounds of its size.
	// +required
	Spec MultidimPodAutoscalerSpec `json:"spec"`

	// status is what the controller saw and recommends. It is written by the controller, or by the recommender that the spec
	// names.
	// +optional
	Status MultidimPodAutoscalerStatus `json:"status,omitempty,omitzero"`
}

// MultidimPodAutoscalerList is a list of MultidimPodAutoscalers.
//
// +kubebuilder:object:root=true
type MultidimPodAutoscalerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the MultidimPodAutoscalers.
	Items []MultidimPodAutoscaler `json:"items"`
}

// MultidimPodAutoscalerSpec is a workload, and how it is to grow and shrink in number and in size.
//
// +kubebuilder:validation:XValidation:rule="!(self.scaleTargetRef.kind in ['DaemonSet', 'Job', 'CronJob', 'Pod'])",fieldPath=".scaleTargetRef.kind",message="must be a workload that has replicas, such as a Deployment or a StatefulSet"
// +kubebuilder:validation:XValidation:rule="!(self.scaleTargetRef.kind in ['FederatedHPA', 'MultidimPodAutoscaler', 'VerticalPodAutoscaler'])",fieldPath=".scaleTargetRef.kind",message="may not be an autoscaler"
// +kubebuilder:validation:XValidation:rule="!has(self.goals) || has(self.constraints) && has(self.constraints.global)",fieldPath=".goals",reason=FieldValueForbidden,message="needs bounds of the replicas: set constraints.global with minReplicas and maxReplicas, or remove goals"
// +kubebuilder:validation:XValidation:rule="!has(self.federatedHPAAssignment) || !has(self.replicaDistribution)",fieldPath=".replicaDistribution",reason=FieldValueForbidden,message="may not be set together with federatedHPAAssignment: remove replicaDistribution for distributed mode, or federatedHPAAssignment for central mode"
// +kubebuilder:validation:XValidation:rule="!has(self.goals) || !has(self.goals.utilizationBase) || self.goals.utilizationBase != 'LiveRequest' || !has(self.constraints) || !has(self.constraints.containerControlledResources) || has(self.constraints.container) && self.constraints.container.exists(c, has(c.mode) && c.mode == 'Off') || !self.goals.metrics.exists(m, has(m.resource) && has(m.resource.target.averageUtilization) && m.resource.name in self.constraints.containerControlledResources || has(m.containerResource) && has(m.containerResource.target.averageUtilization) && m.containerResource.name in self.constraints.containerControlledResources)",fieldPath=".goals.utilizationBase",message="may not be LiveRequest, because a metric is the utilization of a resource in containerControlledResources: write TemplateRequest, or take the resource out of there"
// +kubebuilder:validation:XValidation:rule="!has(self.federatedHPAAssignment) || !has(self.federatedHPAAssignment.clusterAutoscalingPreference) || !has(self.constraints) || !has(self.constraints.global) || self.federatedHPAAssignment.clusterAutoscalingPreference.map(p, has(p.autoscalingMinThreshold) ? p.autoscalingMinThreshold : 0).sum() <= self.constraints.global.maxReplicas",fieldPath=".federatedHPAAssignment.clusterAutoscalingPreference",message="the sum of autoscalingMinThreshold must be less than or equal to `maxReplicas`"
// +kubebuilder:validation:XValidation:rule="!has(self.replicaDistribution) || !has(self.replicaDistribution.clusterAutoscalingPreference) || !has(self.constraints) || !has(self.constraints.global) || self.replicaDistribution.clusterAutoscalingPreference.map(p, has(p.autoscalingMinThreshold) ? p.autoscalingMinThreshold : 0).sum() <= self.constraints.global.maxReplicas",fieldPath=".replicaDistribution.clusterAutoscalingPreference",message="the sum of autoscalingMinThreshold must be less than or equal to `maxReplicas`"
type MultidimPodAutoscalerSpec struct {
	// scaleTargetRef is the workload: anything with a scale subresource and a template of its Pods, in the namespace of the
	// MultidimPodAutoscaler. Not a DaemonSet, Job, CronJob or Pod.
	// Example: {apiVersion: apps/v1, kind: Deployment, name: shop}
	// +required
	ScaleTargetRef autoscalingv2.CrossVersionObjectReference `json:"scaleTargetRef"`

	// mode says how far the MultidimPodAutoscaler goes.
	// Active: it recommends sizes, does with them what policy says, and scales replicas to the goals.
	// Observe: it decides, and reports in the status what it would do; no workload and no cluster is written.
	// Paused: it does not decide. Sizes and replicas stay as they are.
	// A deletion is carried out in any case. Absent: Active.
	// Example: Observe
	// +optional
	Mode AutoscalingMode `json:"mode,omitempty"`

	// policy says what becomes of the recommended sizes.
	// Example: {updateMode: InPlace}
	// +optional
	Policy UpdatePolicy `json:"policy,omitempty,omitzero"`

	// goals are what the replicas follow. Absent: sizes are recommended, and replicas are left to others. A goal needs
	// constraints.global.
	// Example: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}
	// +optional
	Goals *Goals `json:"goals,omitempty"`

	// constraints are the bounds of the replicas, and of the sizes of the containers.
	// Example: {global: {minReplicas: 2, maxReplicas: 40}, container: [{name: "*", requests: {maxAllowed: {cpu: 4}}}]}
	// +optional
	Constraints Constraints `json:"constraints,omitempty,omitzero"`

	// recommenders, at most one, name who recommends instead of the controller: whoever has that name writes
	// status.recommendation, and the controller reports and bounds what it finds there. Absent: the controller recommends.
	// Example: [{name: queueing-model}]
	// +kubebuilder:validation:MaxItems=1
	// +listType=atomic
	// +optional
	Recommenders []RecommenderReference `json:"recommenders,omitempty"`

	// scope says for whom sizes are recommended. Fleet: one size for all clusters, from the usage in all of them. PerCluster:
	// each cluster its own, from the usage there. Default: Fleet.
	// Example: PerCluster
	// +optional
	Scope VerticalScope `json:"scope,omitempty"`

	// clusterAffinity selects the clusters that take part. Absent: every registered cluster (on Karmada: every cluster where
	// the workload is placed).
	// Example: {clusterNames: [east, west]}
	// +optional
	ClusterAffinity *ClusterAffinity `json:"clusterAffinity,omitempty"`

	// clusterTolerations are for taints of clusters that are to have no effect on this MultidimPodAutoscaler, as tolerations of a Pod are for
	// taints of nodes. A cluster with another taint is cordoned if the effect is NoSchedule: it keeps what it has, and gets no
	// more. It is drained if the effect is NoExecute: others take its part over, and it is not waited for while it is silent.
	// Clusters of Karmada have taints (spec.taints). The annotations fleetscale.io/cordon and fleetscale.io/drain of any
	// registration act as taints with these keys, the value "true", and the effects NoSchedule and NoExecute.
	// The silence of a drained cluster holds up no size.
	// An operator is Exists or Equal; tolerationSeconds may not be set. At most 16.
	// Example: [{key: fleetscale.io/cordon, operator: Exists}]
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	ClusterTolerations []corev1.Toleration `json:"clusterTolerations,omitempty"`

	// replicaDistribution, in central mode, makes the hub write the replicas of each cluster itself. As of a FederatedHPA; no
	// effect without goals.
	// Example: {type: StaticWeighted}
	// +optional
	ReplicaDistribution *ReplicaDistribution `json:"replicaDistribution,omitempty"`

	// federatedHPAAssignment, if present, selects distributed mode, and says how minReplicas and maxReplicas are split. As of a
	// FederatedHPA; no effect without goals. May not be set together with replicaDistribution.
	// Example: {federatedHPAAssignmentType: StaticWeighted}
	// +optional
	FederatedHPAAssignment *FederatedHPAAssignment `json:"federatedHPAAssignment,omitempty"`

	// scalingToZero allows that a cluster runs no replica, while the fleet still runs minReplicas. As of a FederatedHPA: in
	// distributed mode. Default: false.
	// Example: true
	// +optional
	ScalingToZero *bool `json:"scalingToZero,omitempty"`

	// scalingToZeroMode says who takes a cluster to zero replicas and back, if scalingToZero is true. As of a FederatedHPA.
	// Default: Controller.
	// Example: Native
	// +optional
	ScalingToZeroMode ScalingToZeroMode `json:"scalingToZeroMode,omitempty"`

	// autoscaleMultiClusterDelay is how long, in seconds, Pods of one cluster must be unschedulable before other clusters get
	// its share. As of a FederatedHPA: in distributed mode, and with replicaDistribution. From 0 to 86400. Default: 60.
	// Example: 300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	AutoscaleMultiClusterDelay *int32 `json:"autoscaleMultiClusterDelay,omitempty"`

	// deletionPolicy says what becomes of the HorizontalPodAutoscalers in the clusters when the MultidimPodAutoscaler is deleted.
	// As of a FederatedHPA: in distributed mode. Default: Delete.
	// Example: Orphan
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// UpdatePolicy says what becomes of the recommended sizes. It does not concern replicas.
type UpdatePolicy struct {
	// updateMode says how Pods come to the recommended size. What creates and changes Pods needs deploy/member-sizes in a cluster.
	// Off (in YAML with quotes): not at all; it is only reported. Replicas are scaled to the goals all the same.
	// Initial: new Pods are created with it. InPlace: running Pods are resized too, without a restart where their resizePolicy
	// allows that. InPlaceOrRecreate: those that cannot be resized are evicted, for others to take their place. Recreate: Pods are evicted.
	// Auto: in each cluster the best of InPlaceOrRecreate, InPlace and Off that it can do. Default: Off.
	// Example: InPlaceOrRecreate
	// +optional
	UpdateMode UpdateMode `json:"updateMode,omitempty"`

	// minReplicas is how many Pods of a cluster have to be Ready for one of them to be evicted, or restarted by a resize. At least 1;
	// 1 allows that of the only Pod. Default: 2.
	// Example: 3
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxUnavailable is how many Pods of a cluster may be evicted, restarted by a resize or not Ready at the same time: a number, or a
	// percentage that is rounded down. One always may. Default: 25%.
	// Example: 10%
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number from 1, or a percentage from 1% to 100%"
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// evictOn says for what Pods are evicted. Any: for any other size. OOM: where a container was killed for want of memory.
	// Never. It does not concern resizes. Default: Any.
	// Example: OOM
	// +optional
	EvictOn EvictOn `json:"evictOn,omitempty"`

	// actAfterSeconds is for how long use must have been measured before Pods are changed. One in which a container was killed for
	// want of memory is not waited for. From 0 to 2592000, 30 days. Default: 0.
	// Example: 86400
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2592000
	// +optional
	ActAfterSeconds *int32 `json:"actAfterSeconds,omitempty"`

	// rollout says in how many clusters Pods are evicted at the same time. OneByOne: in one. AllClusters: in all.
	// Default: OneByOne.
	// Example: AllClusters
	// +optional
	Rollout Rollout `json:"rollout,omitempty"`
}

// UpdateMode says how Pods come to the recommended size.
//
// +kubebuilder:validation:Enum=Off;Initial;InPlace;InPlaceOrRecreate;Recreate;Auto
type UpdateMode string

const (
	// UpdateModeOff only reports the recommendation.
	UpdateModeOff UpdateMode = "Off"
	// UpdateModeInitial creates Pods with it.
	UpdateModeInitial UpdateMode = "Initial"
	// UpdateModeInPlace also resizes running Pods.
	UpdateModeInPlace UpdateMode = "InPlace"
	// UpdateModeInPlaceOrRecreate also evicts those that cannot be resized.
	UpdateModeInPlaceOrRecreate UpdateMode = "InPlaceOrRecreate"
	// UpdateModeRecreate evicts Pods, and resizes none.
	UpdateModeRecreate UpdateMode = "Recreate"
	// UpdateModeAuto is the best that each cluster can do.
	UpdateModeAuto UpdateMode = "Auto"
)

// EvictOn says for what Pods are evicted.
//
// +kubebuilder:validation:Enum=Any;OOM;Never
type EvictOn string

const (
	// EvictOnAny evicts for any other size.
	EvictOnAny EvictOn = "Any"
	// EvictOnOOM evicts where a container was killed for want of memory.
	EvictOnOOM EvictOn = "OOM"
	// EvictOnNever evicts nothing.
	EvictOnNever EvictOn = "Never"
)

// Rollout says in how many clusters Pods are evicted at the same time.
//
// +kubebuilder:validation:Enum=OneByOne;AllClusters
type Rollout string

const (
	// RolloutOneByOne evicts in one cluster at a time.
	RolloutOneByOne Rollout = "OneByOne"
	// RolloutAllClusters evicts in all clusters.
	RolloutAllClusters Rollout = "AllClusters"
)

// Goals are what the replicas of the fleet follow.
type Goals struct {
	// metrics are what to follow. For each the controller computes the replicas that would bring it to its target, from the Pods
	// of all clusters; the largest number holds. From 1 to 10.
	// Example: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +required
	Metrics []autoscalingv2.MetricSpec `json:"metrics"`

	// utilizationBase is what 100 % means in targets of type Utilization.
	// TemplateRequest: what the template of the workload requests. The fleet grows first; once it is at maxReplicas, Pods grow.
	// MaxAllowed: the maxAllowed of the sized containers. Pods grow first; only where nodes have room for that.
	// LiveRequest: what each Pod requests, as with a HorizontalPodAutoscaler. Not for a resource that is sized: Pods would be
	// made smaller because there are many, and more because they are small.
	// Default: TemplateRequest.
	// Example: MaxAllowed
	// +optional
	UtilizationBase UtilizationBase `json:"utilizationBase,omitempty"`
}

// UtilizationBase is what 100 % of a resource means.
//
// +kubebuilder:validation:Enum=TemplateRequest;MaxAllowed;LiveRequest
type UtilizationBase string

const (
	// BaseTemplateRequest is what the template of the workload requests.
	BaseTemplateRequest UtilizationBase = "TemplateRequest"
	// BaseMaxAllowed is the most that the containers may be given.
	BaseMaxAllowed UtilizationBase = "MaxAllowed"
	// BaseLiveRequest is what each Pod requests.
	BaseLiveRequest UtilizationBase = "LiveRequest"
)

// Constraints are the bounds of replicas and sizes.
type Constraints struct {
	// global are the bounds of the replicas of the whole fleet, and how fast they change. Needed with goals, without effect
	// else.
	// Example: {minReplicas: 2, maxReplicas: 40}
	// +optional
	Global *GlobalConstraints `json:"global,omitempty"`

	// containerControlledResources are the resources that are sized: cpu, memory or both. Absent: both, less those that a goal
	// of type Utilization names, which are then scaled by replicas alone. If a resource is named in both, only requests are sized,
	// not limits.
	// Example: [memory]
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:Enum=cpu;memory
	// +listType=set
	// +optional
	ContainerControlledResources []corev1.ResourceName `json:"containerControlledResources,omitempty"`

	// container are the bounds of the containers, by name. An entry holds whole for its container: what it leaves out is not
	// taken from "*". Absent: all containers are sized, without bounds. Up to 100.
	// Example: [{name: app, requests: {minAllowed: {memory: 128Mi}, maxAllowed: {cpu: 4, memory: 8Gi}}}, {name: "*", mode: "Off"}]
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +optional
	Container []ContainerConstraint `json:"container,omitempty"`
}

// GlobalConstraints are the bounds of the replicas of the whole fleet.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",fieldPath=".maxReplicas",message="must be greater than or equal to `minReplicas`"
type GlobalConstraints struct {
	// minReplicas is the number of replicas of the whole fleet below which it is never scaled down. At least 1. Default: 1.
	// Example: 2
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the number of replicas of the whole fleet above which it is never scaled up. Not less than minReplicas.
	// Example: 40
	// +kubebuilder:validation:Minimum=1
	// +required
	MaxReplicas int32 `json:"maxReplicas"`

	// behavior says how fast the fleet is scaled in each direction, as of a FederatedHPA.
	// Example: {scaleDown: {stabilizationWindowSeconds: 600, policies: [{type: Percent, value: 10, periodSeconds: 60}]}}
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// AnyContainer names the entry for containers that have none of their own.
const AnyContainer = "*"

// ContainerConstraint is how one container is sized.
type ContainerConstraint struct {
	// name is that of the container, or "*" for all that have no entry of their own. It is no pattern. Up to 63 characters.
	// Example: app
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$`
	// +required
	Name string `json:"name"`

	// mode reports whether the container is sized. Auto: it is. Off (in YAML with quotes): it keeps what the template
	// requests, and there is no recommendation. Default: Auto.
	// Example: "Off"
	// +optional
	Mode ContainerMode `json:"mode,omitempty"`

	// controlledValues says what is sized. RequestsAndLimits: requests, and limits in the same proportion. RequestsOnly: requests;
	// limits stay as they are. Absent: RequestsOnly for a resource that is a goal too, since a limit that shrinks would hide the
	// use that the goal measures; RequestsAndLimits for others.
	// Example: RequestsOnly
	// +optional
	ControlledValues ControlledValues `json:"controlledValues,omitempty"`

	// requests bound what is recommended.
	// Example: {minAllowed: {cpu: 50m}, maxAllowed: {cpu: 4, memory: 8Gi}}
	// +optional
	Requests RequestBounds `json:"requests,omitempty,omitzero"`

	// targetPercentile is the percentile of the usage of the last days that is recommended.
	// Example: {cpu: 95}
	// +optional
	TargetPercentile TargetPercentile `json:"targetPercentile,omitempty,omitzero"`

	// marginPercent is what is added to that, in percent of it. From 0 to 100. Default: 15.
	// Example: 20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MarginPercent *int32 `json:"marginPercent,omitempty"`
}

// ContainerMode reports whether a container is sized.
//
// +kubebuilder:validation:Enum=Auto;Off
type ContainerMode string

const (
	// ContainerAuto sizes the container.
	ContainerAuto ContainerMode = "Auto"
	// ContainerOff changes nothing.
	ContainerOff ContainerMode = "Off"
)

// ControlledValues says what of a container's resources is sized.
//
// +kubebuilder:validation:Enum=RequestsAndLimits;RequestsOnly
type ControlledValues string

const (
	// ControlsRequestsAndLimits sizes limits in proportion to requests.
	ControlsRequestsAndLimits ControlledValues = "RequestsAndLimits"
	// ControlsRequestsOnly changes no limit.
	ControlsRequestsOnly ControlledValues = "RequestsOnly"
)

// RequestBounds bound what is recommended for a container.
type RequestBounds struct {
	// minAllowed is the least that is recommended. Absent: no bound, besides that of the controller.
	// Example: {cpu: 50m, memory: 128Mi}
	// +optional
	MinAllowed Size `json:"minAllowed,omitempty,omitzero"`

	// maxAllowed is the most that is recommended, not less than minAllowed. Absent: no bound, besides those of nodes, limits,
	// LimitRanges and ResourceQuotas.
	// Example: {cpu: 4, memory: 8Gi}
	// +optional
	MaxAllowed Size `json:"maxAllowed,omitempty,omitzero"`
}

// Size is an amount of each resource.
type Size struct {
	// cpu is an amount of cpu: cores, or thousandths of them. Absent: none is said.
	// Example: 250m
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is an amount of memory: bytes. Absent: none is said.
	// Example: 512Mi
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}

// TargetPercentile is how much of the usage the recommended request covers.
type TargetPercentile struct {
	// cpu is the percentile of the cpu usage. From 50 to 99. Default: 90.
	// Example: 95
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=99
	// +optional
	CPU *int32 `json:"cpu,omitempty"`

	// memory is the percentile of the daily peaks of memory usage. From 50 to 99. Default: 90.
	// Example: 99
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=99
	// +optional
	Memory *int32 `json:"memory,omitempty"`
}

// RecommenderReference names who recommends.
type RecommenderReference struct {
	// name is the name that the recommender answers to. From 1 to 63 characters.
	// Example: queueing-model
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`
}

// VerticalScope says for whom sizes are recommended.
//
// +kubebuilder:validation:Enum=Fleet;PerCluster
type VerticalScope string

const (
	// ScopeFleet recommends one size for all clusters.
	ScopeFleet VerticalScope = "Fleet"
	// ScopePerCluster recommends a size for each cluster.
	ScopePerCluster VerticalScope = "PerCluster"
)

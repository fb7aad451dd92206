// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FederatedHPA keeps the replicas of one workload, which runs in many clusters, in step with its load. It has two modes:
//
// Central (federatedHPAAssignment absent): the hub computes the replicas of the whole fleet from the Ready Pods of all
// clusters, as a HorizontalPodAutoscaler does for one cluster, and writes them to the workload on the hub, or, with
// replicaDistribution, to the workload in each cluster.
//
// Distributed (federatedHPAAssignment present): the hub splits minReplicas and maxReplicas into one
// HorizontalPodAutoscaler for each cluster; these go on scaling while the hub is away.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=federatedhpas,scope=Namespaced,shortName=fhpa,categories={karmada-io,autoscaling}
// +kubebuilder:printcolumn:JSONPath=`.spec.scaleTargetRef.kind`,name=`REFERENCE-KIND`,type=string
// +kubebuilder:printcolumn:JSONPath=`.spec.scaleTargetRef.name`,name=`REFERENCE-NAME`,type=string
// +kubebuilder:printcolumn:JSONPath=`.status.summary.targets`,name=`TARGETS`,type=string,description="Each metric as current/goal, in the order of spec.metrics"
// +kubebuilder:printcolumn:JSONPath=`.spec.minReplicas`,name=`MINPODS`,type=integer
// +kubebuilder:printcolumn:JSONPath=`.spec.maxReplicas`,name=`MAXPODS`,type=integer
// +kubebuilder:printcolumn:JSONPath=`.status.currentReplicas`,name=`REPLICAS`,type=integer
// +kubebuilder:printcolumn:JSONPath=`.status.readyReplicas`,name=`READY`,type=integer,description="Ready Pods in all clusters"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.clusters`,name=`CLUSTERS`,type=string,description="Clusters whose Pods and metrics are known, of those where the workload is placed"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.state`,name=`STATE`,type=string,description="Active, Limited, Held, Observing, Paused or Failing"
// +kubebuilder:printcolumn:JSONPath=`.metadata.creationTimestamp`,name=`AGE`,type=date
// +kubebuilder:printcolumn:JSONPath=`.spec.mode`,name=`MODE`,type=string,priority=1,description="Active, Observe or Paused; empty: Active"
// +kubebuilder:printcolumn:JSONPath=`.status.desiredReplicas`,name=`DESIRED`,type=integer,priority=1
// +kubebuilder:printcolumn:JSONPath=`.status.lastScaleTime`,name=`LAST-SCALE`,type=date,priority=1
// +kubebuilder:printcolumn:JSONPath=`.status.conditions[?(@.type=="ScalingActive")].reason`,name=`REASON`,type=string,priority=1
type FederatedHPA struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what a person wants: the workload, the bounds of its replicas, the metrics to follow, and how the clusters
	// take part.
	// +required
	Spec FederatedHPASpec `json:"spec"`

	// status is what the controller saw and decided. It is written by the controller only.
	// +optional
	Status FederatedHPAStatus `json:"status,omitempty,omitzero"`
}

// FederatedHPAList is a list of FederatedHPAs.
//
// +kubebuilder:object:root=true
type FederatedHPAList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the FederatedHPAs.
	Items []FederatedHPA `json:"items"`
}

// FederatedHPASpec is Kubernetes' HorizontalPodAutoscalerSpec, where replicas mean those of the whole fleet, and what
// many clusters need besides.
//
// +kubebuilder:validation:XValidation:rule="self.scaleTargetRef.kind != 'FederatedHPA'",fieldPath=".scaleTargetRef.kind",message="may not be an autoscaler"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",fieldPath=".maxReplicas",message="must be greater than or equal to `minReplicas`"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas != 0 || (has(self.metrics) && self.metrics.exists(m, m.type in ['Object', 'External']))",fieldPath=".metrics",reason=FieldValueForbidden,message="must specify at least one Object or External metric to support scaling to zero replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.federatedHPAAssignment) || !has(self.replicaDistribution)",fieldPath=".replicaDistribution",reason=FieldValueForbidden,message="may not be set together with federatedHPAAssignment: remove replicaDistribution for distributed mode, or federatedHPAAssignment for central mode"
// +kubebuilder:validation:XValidation:rule="!has(self.federatedHPAAssignment) || !has(self.federatedHPAAssignment.clusterAutoscalingPreference) || self.federatedHPAAssignment.clusterAutoscalingPreference.map(p, has(p.autoscalingMinThreshold) ? p.autoscalingMinThreshold : 0).sum() <= self.maxReplicas",fieldPath=".federatedHPAAssignment.clusterAutoscalingPreference",message="the sum of autoscalingMinThreshold must be less than or equal to `maxReplicas`"
// +kubebuilder:validation:XValidation:rule="!has(self.replicaDistribution) || !has(self.replicaDistribution.clusterAutoscalingPreference) || self.replicaDistribution.clusterAutoscalingPreference.map(p, has(p.autoscalingMinThreshold) ? p.autoscalingMinThreshold : 0).sum() <= self.maxReplicas",fieldPath=".replicaDistribution.clusterAutoscalingPreference",message="the sum of autoscalingMinThreshold must be less than or equal to `maxReplicas`"
type FederatedHPASpec struct {
	autoscalingv2.HorizontalPodAutoscalerSpec `json:",inline"`

	// clusterAffinity selects the clusters that take part. Absent: every registered cluster (on Karmada: every cluster
	// where the workload is placed). A cluster that stops matching leaves the FederatedHPA; its workload keeps its
	// replicas, unless fleetscale created that workload.
	// Example: {clusterNames: [east, west]}
	// +optional
	ClusterAffinity *ClusterAffinity `json:"clusterAffinity,omitempty"`

	// clusterTolerations are for taints of clusters that are to have no effect on this FederatedHPA, as tolerations of a Pod are for
	// taints of nodes. A cluster with another taint is cordoned if the effect is NoSchedule: it keeps what it has, and gets no
	// more. It is drained if the effect is NoExecute: others take its part over, and it is not waited for while it is silent.
	// Clusters of Karmada have taints (spec.taints). The annotations fleetscale.io/cordon and fleetscale.io/drain of any
	// registration act as taints with these keys, the value "true", and the effects NoSchedule and NoExecute.
	// An operator is Exists or Equal; tolerationSeconds may not be set. At most 16.
	// Example: [{key: fleetscale.io/cordon, operator: Exists}]
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	ClusterTolerations []corev1.Toleration `json:"clusterTolerations,omitzero"`

	// autoscaleMultiClusterDelay is how long, in seconds, Pods of one cluster must be unschedulable before other clusters
	// get its share: time for its cluster autoscaler to add nodes. Distributed mode, and replicaDistribution.
	// From 0 to 86400. Default: 60.
	// Example: 300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	AutoscaleMultiClusterDelay *int32 `json:"autoscaleMultiClusterDelay,omitempty"`

	// scalingToZero allows that a cluster runs no replica, while the fleet still runs minReplicas. Distributed mode; has no
	// effect with type Duplicated. Default: false.
	// Example: true
	// +optional
	ScalingToZero *bool `json:"scalingToZero,omitempty"`

	// scalingToZeroMode specifies who scales a cluster to zero replicas and back, if scalingToZero is true.
	// Controller: the hub writes the replicas of the workload in that cluster. Works with every Kubernetes version; a
	// cluster at zero stays there while the hub is away.
	// Native: the HorizontalPodAutoscaler of that cluster does. Needs Kubernetes 1.37 there and an Object or External
	// metric; works while the hub is away.
	// Default: Controller.
	// Example: Native
	// +optional
	ScalingToZeroMode ScalingToZeroMode `json:"scalingToZeroMode,omitempty"`

	// federatedHPAAssignment, if present, selects distributed mode, and specifies how minReplicas and maxReplicas are split.
	// Absent: central mode. May not be set together with replicaDistribution.
	// Example: {federatedHPAAssignmentType: StaticWeighted}
	// +optional
	FederatedHPAAssignment *FederatedHPAAssignment `json:"federatedHPAAssignment,omitempty"`

	// replicaDistribution, in central mode, specifies how the replicas are divided among the clusters, and makes the hub write
	// them in each. Absent: if the workload is on the hub, its replicas are written there, and whoever propagates it (Karmada, for
	// example) divides them; while nobody does, no Pod moves, and the condition Propagated is False. If only clusters have it,
	// they are written in each, in the proportions that they have.
	// Example: {type: StaticWeighted}
	// +optional
	ReplicaDistribution *ReplicaDistribution `json:"replicaDistribution,omitempty"`

	// deletionPolicy specifies what happens to the HorizontalPodAutoscalers in the clusters when the FederatedHPA is deleted.
	// Delete: they go too. Orphan: they stay, with the bounds that they have then. Distributed mode. Default: Delete.
	// Example: Orphan
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// mode says how far the FederatedHPA goes.
	// Active: it decides, and scales.
	// Observe: it decides, and reports in the status what it would do; no workload and no cluster is written. It may then stand
	// beside another autoscaler of the workload, unless it acted before in distributed mode.
	// Paused: it does not decide. Replicas, and the HorizontalPodAutoscalers of distributed mode, stay as they are; these go on
	// scaling within their bounds.
	// A deletion is carried out in any case. Absent: Active.
	// Example: Observe
	// +optional
	Mode AutoscalingMode `json:"mode,omitempty"`
}

// ScalingToZeroMode specifies who scales a cluster to zero replicas and back.
//
// +kubebuilder:validation:Enum=Controller;Native
type ScalingToZeroMode string

const (
	// ScalingToZeroController makes the hub write the replicas.
	ScalingToZeroController ScalingToZeroMode = "Controller"
	// ScalingToZeroNative leaves it to the member's HorizontalPodAutoscaler.
	ScalingToZeroNative ScalingToZeroMode = "Native"
)

// DeletionPolicy specifies what happens to member HorizontalPodAutoscalers when their FederatedHPA is deleted.
//
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

const (
	// DeletionPolicyDelete deletes them.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyOrphan leaves them with their last bounds.
	DeletionPolicyOrphan DeletionPolicy = "Orphan"
)

// Distributed reports whether the hub splits min and max into member HorizontalPodAutoscalers; otherwise it computes the
// replicas itself.
func (f *FederatedHPA) Distributed() bool { return f.Spec.FederatedHPAAssignment != nil }

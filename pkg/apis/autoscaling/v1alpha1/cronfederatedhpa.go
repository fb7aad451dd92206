// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CronFederatedHPA sets the replicas of a workload, or the bounds of a FederatedHPA or MultidimPodAutoscaler, at given times. A
// time that passed while the controller was away is caught up once it is back: of several, only the latest values are applied.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cronfederatedhpas,scope=Namespaced,shortName=cronfhpa,categories={karmada-io,autoscaling}
// +kubebuilder:printcolumn:JSONPath=`.spec.scaleTargetRef.kind`,name=`REFERENCE-KIND`,type=string
// +kubebuilder:printcolumn:JSONPath=`.spec.scaleTargetRef.name`,name=`REFERENCE-NAME`,type=string
// +kubebuilder:printcolumn:JSONPath=`.status.summary.next`,name=`NEXT`,type=string,description="When the next rule runs, and which"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.last`,name=`LAST`,type=string,description="The rule that ran last, and its result"
// +kubebuilder:printcolumn:JSONPath=`.status.summary.suspended`,name=`SUSPENDED`,type=string,description="Suspended rules, of all rules"
// +kubebuilder:printcolumn:JSONPath=`.metadata.creationTimestamp`,name=`AGE`,type=date
// +kubebuilder:printcolumn:JSONPath=`.status.lastExecutionTime`,name=`LAST-RUN`,type=date,priority=1
// +kubebuilder:printcolumn:JSONPath=`.status.conditions[?(@.type=="Ready")].message`,name=`MESSAGE`,type=string,priority=1
type CronFederatedHPA struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what a person wants: the target, and what is set there at which times.
	// +required
	Spec CronFederatedHPASpec `json:"spec"`

	// status is what the controller did, and what it will do next. It is written by the controller only.
	// +optional
	Status CronFederatedHPAStatus `json:"status,omitempty,omitzero"`
}

// CronFederatedHPAList is a list of CronFederatedHPAs.
//
// +kubebuilder:object:root=true
type CronFederatedHPAList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the CronFederatedHPAs.
	Items []CronFederatedHPA `json:"items"`
}

// CronFederatedHPASpec is a target, and the rules for it.
//
// +kubebuilder:validation:XValidation:rule="!(self.scaleTargetRef.kind in ['FederatedHPA', 'MultidimPodAutoscaler']) || (has(self.scaleTargetRef.apiVersion) && self.scaleTargetRef.apiVersion == 'autoscaling.karmada.io/v1alpha1')",fieldPath=".scaleTargetRef.apiVersion",message="must be autoscaling.karmada.io/v1alpha1 if kind is FederatedHPA or MultidimPodAutoscaler"
// +kubebuilder:validation:XValidation:rule="!has(self.scaleTargetRef.apiVersion) || self.scaleTargetRef.apiVersion != 'autoscaling.karmada.io/v1alpha1' || self.scaleTargetRef.kind in ['FederatedHPA', 'MultidimPodAutoscaler']",fieldPath=".scaleTargetRef.kind",message="must be FederatedHPA or MultidimPodAutoscaler if apiVersion is autoscaling.karmada.io/v1alpha1"
// +kubebuilder:validation:XValidation:rule="!(has(self.scaleTargetRef.apiVersion) && self.scaleTargetRef.apiVersion == 'autoscaling.karmada.io/v1alpha1') || self.rules.all(r, has(r.targetMinReplicas) || has(r.targetMaxReplicas))",fieldPath=".rules",message="each rule must set targetMinReplicas, targetMaxReplicas or both, because the target is an autoscaler"
// +kubebuilder:validation:XValidation:rule="!(has(self.scaleTargetRef.apiVersion) && self.scaleTargetRef.apiVersion == 'autoscaling.karmada.io/v1alpha1') || self.rules.all(r, !has(r.targetReplicas))",fieldPath=".rules",message="targetReplicas may not be set, because the target is an autoscaler: set targetMinReplicas and targetMaxReplicas"
// +kubebuilder:validation:XValidation:rule="(has(self.scaleTargetRef.apiVersion) && self.scaleTargetRef.apiVersion == 'autoscaling.karmada.io/v1alpha1') || self.rules.all(r, has(r.targetReplicas))",fieldPath=".rules",message="each rule must set targetReplicas, because the target is not an autoscaler"
// +kubebuilder:validation:XValidation:rule="(has(self.scaleTargetRef.apiVersion) && self.scaleTargetRef.apiVersion == 'autoscaling.karmada.io/v1alpha1') || self.rules.all(r, !has(r.targetMinReplicas) && !has(r.targetMaxReplicas))",fieldPath=".rules",message="targetMinReplicas and targetMaxReplicas may not be set, because the target is not an autoscaler: set targetReplicas"
// +kubebuilder:validation:XValidation:rule="self.scaleTargetRef.kind != 'MultidimPodAutoscaler' || self.rules.all(r, !has(r.targetMinReplicas) || r.targetMinReplicas != 0)",fieldPath=".rules",message="targetMinReplicas must be 1 or more, because the target is a MultidimPodAutoscaler"
// +kubebuilder:validation:XValidation:rule="!has(self.replicaDistribution) || !has(self.replicaDistribution.type) || self.replicaDistribution.type != 'LoadWeighted'",fieldPath=".replicaDistribution.type",message="may not be LoadWeighted, because rules know no load"
// +kubebuilder:validation:XValidation:rule="!has(self.replicaDistribution) || !has(self.replicaDistribution.rebalance) || !self.replicaDistribution.rebalance",fieldPath=".replicaDistribution.rebalance",reason=FieldValueForbidden,message="may not be true, because nothing moves between the runs of rules: remove it"
type CronFederatedHPASpec struct {
	// scaleTargetRef is what the rules set: a FederatedHPA, a MultidimPodAutoscaler, or anything with a scale subresource, in
	// the namespace of the CronFederatedHPA on the hub. If only clusters have such a workload, it is scaled there, as
	// replicaDistribution says, and without it in the proportions that it has. A workload that a FederatedHPA governs is not to
	// be named; name the FederatedHPA. Nor is one that a MultidimPodAutoscaler governs, nor its FederatedHPA; name the
	// MultidimPodAutoscaler.
	// Example: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: shop}
	// +required
	ScaleTargetRef autoscalingv2.CrossVersionObjectReference `json:"scaleTargetRef"`

	// rules say what is set when. From 1 to 32, each with a name of its own. If several are due at one time, the later in
	// this list wins, for each value by itself.
	// Example: [{name: morning, schedule: "30 8 * * *", timeZone: Asia/Shanghai, targetMinReplicas: 100}]
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, (has(b.name) ? b.name : has(b.ruleName) ? b.ruleName : '') == (has(a.name) ? a.name : has(a.ruleName) ? a.ruleName : '')))",message="each rule must have a name that no other rule has"
	// +listType=atomic
	// +required
	Rules []CronFederatedHPARule `json:"rules"`

	// clusterAffinity selects the clusters that take part, where a workload is set. Absent: every registered cluster (on Karmada: every
	// cluster where the workload is placed) that has it. What runs elsewhere does not count, and stays.
	// Example: {clusterNames: [east, west]}
	// +optional
	ClusterAffinity *ClusterAffinity `json:"clusterAffinity,omitempty"`

	// clusterTolerations are for taints of clusters that are to have no effect on the rules, as those of a FederatedHPA. A
	// cluster with another taint is cordoned if the effect is NoSchedule: a run gives it no more. It is drained if the effect is
	// NoExecute: a run has others take what it runs. Where only clusters have the workload. At most 16.
	// Example: [{key: fleetscale.io/cordon, operator: Exists}]
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	ClusterTolerations []corev1.Toleration `json:"clusterTolerations,omitzero"`

	// replicaDistribution specifies how the replicas of a workload that only clusters have are divided among them, as that of a
	// FederatedHPA: type LoadWeighted and rebalance may not be set, as rules know no load, and nothing moves between their runs. While
	// the hub has the workload, the rules fail: whoever propagates it divides its replicas. Absent: the replicas stay divided as they are.
	// Example: {type: StaticWeighted}
	// +optional
	ReplicaDistribution *ReplicaDistribution `json:"replicaDistribution,omitempty"`
}

// CronFederatedHPARule sets values at the times of a schedule.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) || has(self.ruleName)",fieldPath=".name",reason=FieldValueRequired,message="must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !has(self.ruleName) || self.name == self.ruleName",fieldPath=".ruleName",message="must be the same as name, or be left out"
// +kubebuilder:validation:XValidation:rule="!has(self.targetMinReplicas) || !has(self.targetMaxReplicas) || self.targetMinReplicas <= self.targetMaxReplicas",fieldPath=".targetMaxReplicas",message="must be greater than or equal to `targetMinReplicas`"
type CronFederatedHPARule struct {
	// name tells the rule from the others, and its history in the status. A rule with another name is another rule. From
	// 1 to 32 characters, no control characters.
	// Example: morning
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +optional
	Name string `json:"name,omitempty"`

	// ruleName is an older word for name.
	//
	// Deprecated: use name. On admission it is copied there.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +optional
	RuleName string `json:"ruleName,omitempty"`

	// schedule is when the rule runs, in five fields: minute (0-59), hour (0-23), day of the month (1-31), month (1-12 or
	// jan-dec), day of the week (0-6 or sun-sat). A field is *, a value, a range 1-5, a step */15, or a list of these. If
	// both days are restricted, either is enough. Or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly,
	// @annually. Each minute of the wall clock that matches runs once, also when clocks are set back; if clocks are set
	// forward past it, it runs at that moment.
	// Example: "30 8 * * mon-fri"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule="!self.contains('TZ=')",message="may not name a time zone: use the field timeZone"
	// +kubebuilder:validation:XValidation:rule="!self.trim().startsWith('@') || self.trim() in ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually']",message="must be one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually, or have five fields"
	// +kubebuilder:validation:XValidation:rule="self.contains('TZ=') || self.trim().startsWith('@') || self.matches('^\\\\s*(\\\\S+\\\\s+){4}\\\\S+\\\\s*$')",message="must have five fields: minute, hour, day of the month, month, day of the week; seconds and years cannot be given"
	// +required
	Schedule string `json:"schedule"`

	// targetReplicas is the number of replicas that the target is set to; 0 is allowed. Must be set if the target is not a
	// FederatedHPA or MultidimPodAutoscaler, and only then.
	// Example: 100
	// +kubebuilder:validation:Minimum=0
	// +optional
	TargetReplicas *int32 `json:"targetReplicas,omitempty"`

	// targetMinReplicas is the minReplicas that the FederatedHPA, or constraints.global of the MultidimPodAutoscaler, is set
	// to. Absent: it is left as it is. 0 only if the target is a FederatedHPA that may have it.
	// Example: 100
	// +kubebuilder:validation:Minimum=0
	// +optional
	TargetMinReplicas *int32 `json:"targetMinReplicas,omitempty"`

	// targetMaxReplicas is the maxReplicas that the FederatedHPA, or constraints.global of the MultidimPodAutoscaler, is set
	// to. Absent: it is left as it is.
	// Example: 500
	// +kubebuilder:validation:Minimum=1
	// +optional
	TargetMaxReplicas *int32 `json:"targetMaxReplicas,omitempty"`

	// suspend keeps the rule from running. What it missed meanwhile is not caught up. Default: false.
	// Example: true
	// +kubebuilder:default=false
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// timeZone is the IANA name of the time zone of schedule. Absent: the zone of the controller's process, which is UTC
	// as we deploy it; the status names it.
	// Example: Asia/Shanghai
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z._0-9+][A-Za-z._0-9+-]*(/[A-Za-z._0-9+][A-Za-z._0-9+-]*)*$`
	// +kubebuilder:validation:XValidation:rule="self.lowerAscii() != 'local'",message="must be an explicit time zone, such as Europe/Berlin or UTC; Local depends on the machine"
	// +optional
	TimeZone *string `json:"timeZone,omitempty"`

	// maxDelaySeconds is how late, in seconds, the rule may still run after its time. Past that the run is recorded as
	// failed. At least 10, and less than the shortest time between two runs. Absent: no limit.
	// Example: 600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=157680000
	// +optional
	MaxDelaySeconds *int64 `json:"maxDelaySeconds,omitempty"`

	// successfulHistoryLimit is the number of successful runs that the status keeps. From 0 (none) to 32. Default: 3.
	// Example: 10
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=32
	// +optional
	SuccessfulHistoryLimit *int32 `json:"successfulHistoryLimit,omitempty"`

	// failedHistoryLimit is the number of failed runs that the status keeps. From 0 (none) to 32. Default: 3.
	// Example: 10
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=32
	// +optional
	FailedHistoryLimit *int32 `json:"failedHistoryLimit,omitempty"`
}

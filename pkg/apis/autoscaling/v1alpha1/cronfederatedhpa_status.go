// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CronFederatedHPAStatus is what the rules did, and what they will do next.
type CronFederatedHPAStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status speaks of.
	// Example: 3
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// nextExecutionTime is when the next rule runs. Absent: all rules are suspended.
	// Example: "2027-03-01T08:30:00Z"
	// +optional
	NextExecutionTime *metav1.Time `json:"nextExecutionTime,omitempty"`

	// lastExecutionTime is when a rule last ran, successfully or not. Absent: never.
	// Example: "2027-02-28T11:00:00Z"
	// +optional
	LastExecutionTime *metav1.Time `json:"lastExecutionTime,omitempty"`

	// conditions report whether the rules can run. Ready: the spec was understood. TargetFound: scaleTargetRef exists.
	// Conflicting: another autoscaler sets the same values.
	// Example: [{type: TargetFound, status: "False", reason: NotFound, message: no shop, lastTransitionTime: "2027-03-01T09:30:00Z"}]
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// executionHistories say for each rule when it ran and when it will run.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=ruleName
	// +optional
	ExecutionHistories []ExecutionHistory `json:"executionHistories,omitempty"`

	// summary is the status in a few words, for `kubectl get`.
	// +optional
	Summary *CronFederatedHPASummary `json:"summary,omitempty"`
}

// Conditions of a CronFederatedHPA.
const (
	// CronReady is True if every rule can be carried out as it is written.
	CronReady = "Ready"
	// CronTargetFound is True if scaleTargetRef exists and can be set.
	CronTargetFound = "TargetFound"
	// CronConflicting is True if another autoscaler sets what the rules set.
	CronConflicting = "Conflicting"
)

// CronFederatedHPASummary is what `kubectl get` shows and could not compute.
type CronFederatedHPASummary struct {
	// next is when the next rule runs, in its zone, and its name.
	// Example: 2027-03-01T08:30:00+08:00 morning
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Next string `json:"next,omitempty"`

	// last is the rule that ran last, and its result: Succeeded or Failed.
	// Example: evening Succeeded
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Last string `json:"last,omitempty"`

	// suspended is the number of suspended rules, of all rules.
	// Example: 0/2
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Suspended string `json:"suspended,omitempty"`
}

// ExecutionHistory records when one rule ran and when it will run next.
type ExecutionHistory struct {
	// ruleName is the name of the rule.
	// Example: morning
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +required
	RuleName string `json:"ruleName"`

	// nextExecutionTime is when the rule runs next. Absent: it is suspended.
	// Example: "2027-03-01T08:30:00Z"
	// +optional
	NextExecutionTime *metav1.Time `json:"nextExecutionTime,omitempty"`

	// lastScheduleTime is the latest time of the schedule that was dealt with: run, missed or superseded. Absent: none.
	// Example: "2027-02-28T08:30:00Z"
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// timeZone is the time zone in which schedule is read.
	// Example: Asia/Shanghai
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// scheduleHash stands for the schedule and the time zone from which nextExecutionTime was computed: when they
	// change, it is computed again.
	// Example: 5d41402abc4b2a76
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ScheduleHash string `json:"scheduleHash,omitempty"`

	// successfulExecutions are the last successful runs, the newest first; successfulHistoryLimit of them at most.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	SuccessfulExecutions []SuccessfulExecution `json:"successfulExecutions,omitempty"`

	// failedExecutions are the last failed runs, the newest first; failedHistoryLimit of them at most.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	FailedExecutions []FailedExecution `json:"failedExecutions,omitempty"`
}

// SuccessfulExecution is a run that brought the target to the values of the rule, or found it there.
type SuccessfulExecution struct {
	// scheduleTime is the time of the schedule.
	// Example: "2027-02-28T08:30:00Z"
	// +required
	ScheduleTime metav1.Time `json:"scheduleTime"`

	// executionTime is when the run took place.
	// Example: "2027-02-28T08:30:01Z"
	// +required
	ExecutionTime metav1.Time `json:"executionTime"`

	// appliedReplicas is the number of replicas that was set. Absent: another rule, due at the same time, set it, or the
	// rule does not.
	// Example: 100
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedReplicas *int32 `json:"appliedReplicas,omitempty"`

	// appliedMaxReplicas is the maxReplicas that was set. Absent: as for appliedReplicas.
	// Example: 500
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedMaxReplicas *int32 `json:"appliedMaxReplicas,omitempty"`

	// appliedMinReplicas is the minReplicas that was set. Absent: as for appliedReplicas.
	// Example: 100
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedMinReplicas *int32 `json:"appliedMinReplicas,omitempty"`
}

// FailedExecution is a run that did not bring the target to the values of the rule.
type FailedExecution struct {
	// scheduleTime is the time of the schedule.
	// Example: "2027-02-28T08:30:00Z"
	// +required
	ScheduleTime metav1.Time `json:"scheduleTime"`

	// executionTime is when the run was given up.
	// Example: "2027-02-28T08:40:00Z"
	// +required
	ExecutionTime metav1.Time `json:"executionTime"`

	// message explains why.
	// Example: minReplicas 1000 would exceed maxReplicas 500
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Message string `json:"message"`
}

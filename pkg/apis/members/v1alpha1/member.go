// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Member is one registered cluster of the fleet, as the metrics adapter that answers knows it. It is read-only: a cluster joins by a
// registration, and leaves with it. Each replica of the adapter has a resourceVersion of its own; one of another replica, or of before a
// restart, is too old (410), and a new list helps.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=mbr
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`,description="State, and Cordoned or Drained."
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`,description="Why it is not ready; empty when it is."
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.status.source`,description="Source and name of the registration."
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.kubernetesVersion`,description="Version of Kubernetes."
// +kubebuilder:printcolumn:name="Metrics",type=string,JSONPath=`.status.metricsAPIs`,description="Metrics APIs that it serves."
// +kubebuilder:printcolumn:name="Pods",type=integer,JSONPath=`.status.measuredPods`,description="Pods whose cpu and memory are in memory."
// +kubebuilder:printcolumn:name="Age",type=string,JSONPath=`.status.lastAnswerTime`,description="Time since it last answered."
// +kubebuilder:printcolumn:name="Clock",type=string,JSONPath=`.status.clockOffsetMilliseconds`,priority=1,description="Its clock minus ours."
// +kubebuilder:printcolumn:name="Rights",type=string,JSONPath=`.status.rights`,priority=1,description="Credentials that work, and how many rights others lack."
// +kubebuilder:printcolumn:name="Token",type=string,JSONPath=`.status.controllerManager.tokenExpiry`,priority=1,description="Until a token expires."
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1,description="What is wrong, and what to do."
type Member struct {
	metav1.TypeMeta `json:",inline"`
	// The name is the cluster's, or for a registration that could not get the name it asks for: its source and the name of its object.
	// The labels are the registration's.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// What is known of the cluster.
	Status MemberStatus `json:"status"`
}

// MemberState is one word for a cluster's part in the fleet.
// +enum
// +kubebuilder:validation:Enum=Ready;Joining;Silent;Spare
type MemberState string

// States of a member.
const (
	// MemberReady: the last probe succeeded.
	MemberReady MemberState = "Ready"
	// MemberJoining: it has not been ready since it was registered, and counts for nothing until then.
	MemberJoining MemberState = "Joining"
	// MemberSilent: it was ready before, and is not now.
	MemberSilent MemberState = "Silent"
	// MemberSpare: another registration leads to the same cluster, and is used.
	MemberSpare MemberState = "Spare"
)

// MemberStatus is what is known of a cluster.
type MemberStatus struct {
	// Ready: the last probe succeeded. Joining: it has not been ready since it was registered, and counts for nothing until then. Silent: it
	// was ready before, and is not now. Spare: another registration leads to the same cluster, and is used.
	State MemberState `json:"state"`
	// One word for why: Ready, Timeout, Forbidden and so on, as in logs, Events and metrics.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// What is wrong, and what to do about it; empty when ready. It may repeat words of the cluster: at most 300 characters, all printable.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Message string `json:"message,omitempty"`
	// When the cluster became ready, or stopped being so.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// The registration.
	Source MemberSource `json:"source"`
	// Host and port of the API server, without path and credentials.
	// +optional
	// +kubebuilder:validation:MaxLength=270
	Address string `json:"address,omitempty"`
	// The cluster is the hub itself.
	// +optional
	Hub bool `json:"hub,omitempty"`
	// Cordoned: gets no more of autoscalers without tolerations. Drained: others take its part over, too. Empty: neither.
	// +kubebuilder:validation:Enum=Cordoned;Drained
	// +optional
	Standing string `json:"standing,omitempty"`
	// The version of Kubernetes that the API server says it has.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Which of metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io the cluster serves.
	// +listType=set
	// +optional
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=32
	MetricsAPIs []string `json:"metricsAPIs,omitempty"`
	// Pods of the cluster whose cpu and memory the adapter has in memory: those of namespaces that somebody asked for in the last minutes.
	// A change of this alone is no event of a watch.
	MeasuredPods int32 `json:"measuredPods"`
	// When the cluster last answered any request of the adapter. A change of this alone is no event of a watch.
	// +optional
	LastAnswerTime *metav1.Time `json:"lastAnswerTime,omitempty"`
	// The cluster's time minus the adapter's, to half a second; absent before the first answer. A change of this alone is no event of a watch.
	// +optional
	ClockOffsetMilliseconds *int64 `json:"clockOffsetMilliseconds,omitempty"`
	// Which credentials of the registration work: read is the adapter's, write the controller-manager's. One works if the cluster has
	// accepted it, has not refused it since, and denies none of the rights that it needs, as far as is known.
	// +listType=set
	// +optional
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MaxLength=8
	Rights []string `json:"rights,omitempty"`
	// Which of the rights that the adapter needs the cluster denies to the credential that reads, as in "list pods.metrics.k8s.io": those of
	// deploy/member, or of deploy/member-namespaced/read in each namespace. Asked every five minutes, and every minute while some are denied.
	// The last may be as in "and 3 more". Empty: none that is known.
	// +listType=atomic
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=128
	MissingRights []string `json:"missingRights,omitempty"`
	// What the leader of the controller-manager has published of the cluster. Absent: nothing.
	// +optional
	ControllerManager *ControllerManagerView `json:"controllerManager,omitempty"`
}

// MemberSource is the object of the hub that registers a cluster.
type MemberSource struct {
	// The source of registrations: one of --sources.
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`
	// The object's API version.
	// +kubebuilder:validation:MaxLength=320
	APIVersion string `json:"apiVersion"`
	// The object's kind.
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind"`
	// The object's namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// The object's name.
	// +kubebuilder:validation:MaxLength=253
	ObjectName string `json:"objectName"`
}

// ControllerManagerView is a cluster as the controller-manager sees it, by the credential that writes there.
type ControllerManagerView struct {
	// As status.state, for the credential that writes.
	// +kubebuilder:validation:Enum=Ready;Joining;Silent;Spare
	State MemberState `json:"state"`
	// As status.reason.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// As status.message, when state and reason became what they are.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Message string `json:"message,omitempty"`
	// When the cluster became ready, or stopped being so.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// When the first of the registration's tokens expires. They are renewed before: this is near only where that fails. Absent: none
	// expires.
	// +optional
	TokenExpiry *metav1.Time `json:"tokenExpiry,omitempty"`
	// As status.missingRights, for the credential that writes: of the rights of deploy/member-write, or of
	// deploy/member-namespaced/write in each namespace.
	// +listType=atomic
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=128
	MissingRights []string `json:"missingRights,omitempty"`
	// All this is what was published last, and nobody has renewed it for three minutes: no controller-manager is at work. Whether the
	// credential that writes works is not known, so it is not among status.rights.
	// +optional
	Stale bool `json:"stale,omitempty"`
}

// MemberList is the fleet, by name.
//
// +kubebuilder:object:root=true
type MemberList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Member `json:"items"`
}

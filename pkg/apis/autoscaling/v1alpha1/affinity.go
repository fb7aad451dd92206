// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterAffinity selects clusters: those that satisfy labelSelector, fieldSelector and clusterNames, less those in
// exclude. What is absent or empty is satisfied by every cluster, so {} selects all. Its shape is that of Karmada's
// policies.
type ClusterAffinity struct {
	// labelSelector selects clusters by the labels of their registration.
	// Example: {matchLabels: {tier: production}}
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`

	// fieldSelector selects clusters by provider, region and zone, as the annotations fleetscale.io/provider, region and
	// zones of their registration say, or the spec of Karmada's Cluster.
	// Example: {matchExpressions: [{key: region, operator: In, values: [eu-west-1]}]}
	// +optional
	FieldSelector *FieldSelector `json:"fieldSelector,omitempty"`

	// clusterNames are the clusters to select. Empty: any name.
	// Example: [east, west]
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	ClusterNames []string `json:"clusterNames,omitzero"`

	// exclude are clusters that are never selected, whatever the other fields say.
	// Example: [staging]
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	ExcludeClusters []string `json:"exclude,omitzero"`
}

// FieldSelector selects clusters by the place that their registration states. All requirements must hold.
type FieldSelector struct {
	// matchExpressions are the requirements. Empty: every cluster.
	// Example: [{key: provider, operator: NotIn, values: [on-premises]}]
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	MatchExpressions []FieldSelectorRequirement `json:"matchExpressions,omitzero"`
}

// FieldSelectorRequirement compares one field of a cluster with a list of values.
type FieldSelectorRequirement struct {
	// key is the field: provider, region or zone. A cluster may have several zones: In holds if one of them is listed,
	// NotIn if none is.
	// Example: region
	// +required
	Key FieldSelectorKey `json:"key"`

	// operator is In or NotIn.
	// Example: In
	// +required
	Operator FieldSelectorOperator `json:"operator"`

	// values are compared with the field as they stand. At least one.
	// Example: [eu-west-1, eu-central-1]
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +required
	Values []string `json:"values"`
}

// FieldSelectorKey is a field of a cluster's registration.
//
// +kubebuilder:validation:Enum=provider;region;zone
type FieldSelectorKey string

// The fields that a FieldSelector knows.
const (
	FieldProvider FieldSelectorKey = "provider"
	FieldRegion   FieldSelectorKey = "region"
	FieldZone     FieldSelectorKey = "zone"
)

// FieldSelectorOperator relates a field to a list of values.
//
// +kubebuilder:validation:Enum=In;NotIn
type FieldSelectorOperator string

// The operators that a FieldSelector knows.
const (
	FieldSelectorIn    FieldSelectorOperator = "In"
	FieldSelectorNotIn FieldSelectorOperator = "NotIn"
)

// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds what the metrics adapter tells of the fleet's clusters: [Member]. No object of it is stored, and none can be
// written: the adapter serves them from memory.
//
// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +groupName=members.fleetscale.io
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is what is kept of the past of autoscalers, which the metrics adapter serves from where the controller-manager keeps it.
// No object is stored, and none can be written: [FederatedHPAHistory] and [MultidimPodAutoscalerHistory] are names, and what is read are
// their subresources.
//
// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +groupName=history.fleetscale.io
package v1alpha1

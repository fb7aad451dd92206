// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds what fleetscale keeps in members: [PodSizes], by which a cluster's own API server gives new Pods their
// size (deploy/member-sizes).
//
// +kubebuilder:object:generate=true
// +groupName=fleetscale.io
package v1alpha1

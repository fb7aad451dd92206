// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Resource names of the API: federatedhpas/decisions is the record of what each decision on a FederatedHPA of that namespace and name was
// told, as kubectl fleetscale replay reads it, and multidimpodautoscalers/decisions that of decisions on sizes.
const (
	FederatedHPAs          = "federatedhpas"
	MultidimPodAutoscalers = "multidimpodautoscalers"
	Decisions              = "decisions"
)

// SinceParameter is the parameter of decisions that says from when on they are wanted, in the form of RFC 3339.
const SinceParameter = "since"

// FederatedHPAHistory is what is kept of the past of the FederatedHPA of that namespace and name. It is not read by itself: its subresource
// decisions is.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=federatedhpas,singular=federatedhpa
type FederatedHPAHistory struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// OpenAPIModelName returns the name under which the type is published.
func (FederatedHPAHistory) OpenAPIModelName() string {
	return "io.fleetscale.history.v1alpha1.FederatedHPAHistory"
}

// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MultidimPodAutoscalerHistory is what is kept of the past of the MultidimPodAutoscaler of that namespace and name. It is not read by
// itself: its subresource decisions is.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=multidimpodautoscalers,singular=multidimpodautoscaler
type MultidimPodAutoscalerHistory struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// OpenAPIModelName returns the name under which the type is published.
func (MultidimPodAutoscalerHistory) OpenAPIModelName() string {
	return "io.fleetscale.history.v1alpha1.MultidimPodAutoscalerHistory"
}

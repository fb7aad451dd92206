// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the past of autoscalers.
const GroupName = "history.fleetscale.io"

// SchemeGroupVersion is the group with the only version that is served.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// Resource returns a resource of the group.
func Resource(resource string) schema.GroupResource {
	return schema.GroupResource{Group: GroupName, Resource: resource}
}

// AddToScheme makes scheme know the kinds of the group.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &FederatedHPAHistory{}, &MultidimPodAutoscalerHistory{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

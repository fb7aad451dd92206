// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group, shared with Karmada.
const GroupName = "autoscaling.karmada.io"

// The kinds of the group, as scaleTargetRef.kind and manifests name them.
const (
	FederatedHPAKind                 = "FederatedHPA"
	CronFederatedHPAKind             = "CronFederatedHPA"
	MultidimPodAutoscalerKind        = "MultidimPodAutoscaler"
	MultidimPodAutoscalerHistoryKind = "MultidimPodAutoscalerHistory"
)

// ManagedByLabel is on what fleetscale made for another object; its value is that object's UID: in a member for a
// FederatedHPA, and on the hub, the FederatedHPA of a MultidimPodAutoscaler. A hub that is a member of its own fleet has both.
const ManagedByLabel = "fleetscale.io/managed-by"

// RemovedByAnnotation, on a HorizontalPodAutoscaler that fleetscale made in a member, is the uid of the namespace kube-system of the
// hub that removes it once the owner in [ManagedByLabel] is gone; empty: none does.
const RemovedByAnnotation = "fleetscale.io/removed-by"

// AdoptByAnnotation, on a HorizontalPodAutoscaler in a member, gives it to the FederatedHPA of that name in the same
// namespace, which from then on governs it as if it had made it, and deletes it when it has no part for that cluster.
const AdoptByAnnotation = "fleetscale.io/adopt-by"

// SpecAnnotation, on a FederatedHPA or CronFederatedHPA, is a copy of the fields of its spec that Karmada's kinds lack, from which they
// are restored if the hub drops them. The webhook writes it, whatever was sent.
const SpecAnnotation = "fleetscale.io/spec"

// MemberAutoscalersFinalizer is on a FederatedHPA that may have HorizontalPodAutoscalers in members.
const MemberAutoscalersFinalizer = "fleetscale.io/member-autoscalers"

// PodSizesFinalizer is on a MultidimPodAutoscaler that may have written what new Pods are created with in members.
const PodSizesFinalizer = "fleetscale.io/pod-sizes"

// SchemeGroupVersion is the group with the only version that is served.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// Resource qualifies the plural name of a resource ("federatedhpas") with the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme makes scheme know the kinds of the group.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &FederatedHPA{}, &FederatedHPAList{}, &CronFederatedHPA{}, &CronFederatedHPAList{},
		&MultidimPodAutoscaler{}, &MultidimPodAutoscalerList{}, &MultidimPodAutoscalerHistory{}, &MultidimPodAutoscalerHistoryList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

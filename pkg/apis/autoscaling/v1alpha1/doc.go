// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the API of fleetscale: [FederatedHPA], which keeps the replicas of one workload in step with
// its load over many clusters, [CronFederatedHPA], which sets them at given times, and [MultidimPodAutoscaler], which
// recommends the size of its Pods besides, from what [MultidimPodAutoscalerHistory] remembers.
//
// The group and the first two kinds are Karmada's, and every field that Karmada's users have is here with the same name and
// shape, so their manifests work unchanged. The part of a FederatedHPA that specifies when to scale is Kubernetes' own
// HorizontalPodAutoscalerSpec, inlined.
//
// The comments of the types are the reference: they become the descriptions in the CustomResourceDefinitions (deploy/crds),
// what `kubectl explain` shows, and docs/api.md. A bound that is no marker here, because the field is Kubernetes' own,
// is added to the CustomResourceDefinition by tools/crds.
//
// [DefaultFederatedHPA], [DefaultCronFederatedHPA] and [DefaultMultidimPodAutoscaler] fill in what a person left out.
//
// +kubebuilder:object:generate=true
// +groupName=autoscaling.karmada.io
package v1alpha1

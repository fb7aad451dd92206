// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The kind, as manifests and requests name it.
const (
	PodSizesKind     = "PodSizes"
	PodSizesResource = "podsizes"
)

// PodSizesName is the name of the only PodSizes of a namespace that has an effect.
const PodSizesName = "fleetscale"

// SizedByAnnotation is on a Pod that was created with the size of a PodSizes: the name of the workload there, an @, and the
// generation of that object.
const SizedByAnnotation = "fleetscale.io/sized-by"

// MostSizedWorkloads is how many workloads a PodSizes may hold: each costs every creation of a Pod in the namespace some time.
const MostSizedWorkloads = 200

// PodSizes is what the containers of new Pods of a namespace request, in place of what their templates say. The cluster's own API
// server reads it, by the MutatingAdmissionPolicy sizes.fleetscale.io, when a Pod is created. It is written by fleetscale's
// controller-manager for MultidimPodAutoscalers, and has its effect also while that, or the hub, is away. Deleting it,
// or an entry, has new Pods created as their templates say.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=podsizes,singular=podsizes,scope=Namespaced
// +kubebuilder:printcolumn:JSONPath=`.workloads[*].name`,name=`WORKLOADS`,type=string
// +kubebuilder:printcolumn:JSONPath=`.metadata.creationTimestamp`,name=`AGE`,type=date
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'fleetscale'",message="the only PodSizes of a namespace that has an effect is named fleetscale"
type PodSizes struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// workloads are those whose new Pods get their size here. A Pod that several match gets that of the first.
	// +kubebuilder:validation:MaxItems=200
	// +listType=map
	// +listMapKey=name
	// +optional
	Workloads []SizedWorkload `json:"workloads,omitempty"`
}

// PodSizesList is a list of PodSizes.
//
// +kubebuilder:object:root=true
type PodSizesList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the PodSizes.
	Items []PodSizes `json:"items"`
}

// SizedWorkload is what the Pods of one workload are created with.
type SizedWorkload struct {
	// name is that of the MultidimPodAutoscaler.
	// Example: shop
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// matchLabels are those that a Pod of the workload has, all of them.
	// Example: {"app": "shop"}
	// +kubebuilder:validation:MinProperties=1
	// +required
	MatchLabels map[string]string `json:"matchLabels"`

	// containers are those that are sized. Others stay as the Pod has them.
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	// +required
	Containers []SizedContainer `json:"containers"`
}

// SizedContainer is what a container of a new Pod requests.
type SizedContainer struct {
	// name is that of the container.
	// Example: app
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// requests of cpu and memory. One above the limit that the Pod has, or gets here, is cut to that. A Pod of class Guaranteed
	// requests its limits, whatever is written here.
	// Example: {"cpu": "627m", "memory": "512Mi"}
	// +optional
	Requests SizedResources `json:"requests,omitempty"`

	// limits of cpu and memory. Absent: as the Pod has them. One below what the Pod requests is raised to that, if there is no
	// request here.
	// Example: {"memory": "1Gi"}
	// +optional
	Limits SizedResources `json:"limits,omitempty"`
}

// SizedResources is an amount of cpu, in cores or thousandths of one, and one of memory, in bytes. Each is more than zero and
// less than 10^9 cores, or 10^15 bytes.
//
// +kubebuilder:validation:MaxProperties=2
// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory'])",message="must be of cpu and memory only"
// +kubebuilder:validation:XValidation:rule="!('cpu' in self) || self['cpu'].matches('^[1-9][0-9]{0,8}m?$|^[1-9][0-9]{0,5}k$')",message="cpu must be cores or millicores, such as 2 or 250m"
// +kubebuilder:validation:XValidation:rule="!('memory' in self) || self['memory'].matches('^[1-9]([0-9]{0,14}|[0-9]{0,11}(k|Ki)|[0-9]{0,8}(M|Mi)|[0-9]{0,5}(G|Gi)|[0-9]{0,2}(T|Ti))$')",message="memory must be whole bytes, such as 512Mi"
type SizedResources map[string]string

// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// HistoryPartBytes is the size, in bytes of JSON, beyond which a history is split into a further object.
const HistoryPartBytes = 512 << 10

// MultidimPodAutoscalerHistory is what the controller remembers of the usage of one workload, so that it outlives the
// controller's process. It belongs to a MultidimPodAutoscaler, by an owner reference, and goes with it. Where it would exceed
// 512 KiB, several objects hold a part each. People need not write it; whoever deletes it makes the controller learn again.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=multidimpodautoscalerhistories,scope=Namespaced,shortName=mpahistory,categories={karmada-io}
// +kubebuilder:printcolumn:JSONPath=`.status.part`,name=`PART`,type=integer
// +kubebuilder:printcolumn:JSONPath=`.status.savedTime`,name=`SAVED`,type=date
// +kubebuilder:printcolumn:JSONPath=`.metadata.creationTimestamp`,name=`AGE`,type=date
type MultidimPodAutoscalerHistory struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is what was seen. It is written by the controller only.
	// +optional
	Status MultidimPodAutoscalerHistoryStatus `json:"status,omitempty,omitzero"`
}

// MultidimPodAutoscalerHistoryList is a list of MultidimPodAutoscalerHistories.
//
// +kubebuilder:object:root=true
type MultidimPodAutoscalerHistoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the MultidimPodAutoscalerHistories.
	Items []MultidimPodAutoscalerHistory `json:"items"`
}

// MultidimPodAutoscalerHistoryStatus is one part of a history.
type MultidimPodAutoscalerHistoryStatus struct {
	// part is the place of this object among those of one history, from 0.
	// Example: 0
	// +kubebuilder:validation:Minimum=0
	// +optional
	Part int32 `json:"part"`

	// parts is how many objects the history was split into when it was saved. A part that is missing was lost.
	// Example: 1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Parts int32 `json:"parts"`

	// savedTime is when it was saved, by the hub's clock.
	// Example: "2027-03-01T09:30:00Z"
	// +optional
	SavedTime *metav1.Time `json:"savedTime,omitempty"`

	// containers are the histories of containers, in the order of clusters and names.
	// +kubebuilder:validation:MaxItems=4096
	// +listType=map
	// +listMapKey=cluster
	// +listMapKey=container
	// +optional
	Containers []ContainerHistory `json:"containers,omitempty"`
}

// ContainerHistory is what one container used in one cluster, all Pods together, in the form of version v3 of the
// VerticalPodAutoscalerCheckpoint.
type ContainerHistory struct {
	// cluster is the name of the cluster's registration.
	// Example: east
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Cluster string `json:"cluster"`

	// container is the name of the container.
	// Example: app
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Container string `json:"container"`

	// version is the form of the histograms. One that is not known is not read.
	// Example: v3
	// +kubebuilder:validation:MaxLength=16
	// +required
	Version string `json:"version"`

	// cpuHistogram is of the cpu usage, in cores.
	// +optional
	CPUHistogram HistogramCheckpoint `json:"cpuHistogram,omitempty,omitzero"`

	// memoryHistogram is of the daily peaks of the memory usage, in bytes. Of the running day, only kills count.
	// +optional
	MemoryHistogram HistogramCheckpoint `json:"memoryHistogram,omitempty,omitzero"`

	// firstSampleStart is when the first sample was taken, by the hub's clock. Absent: there is none.
	// Example: "2027-02-20T09:30:00Z"
	// +optional
	FirstSampleStart *metav1.Time `json:"firstSampleStart,omitempty"`

	// lastSampleStart is when the last sample was taken, by the hub's clock. Absent: there is none.
	// Example: "2027-03-01T09:29:30Z"
	// +optional
	LastSampleStart *metav1.Time `json:"lastSampleStart,omitempty"`

	// totalSamplesCount is the number of samples of cpu.
	// Example: 11520
	// +kubebuilder:validation:Minimum=0
	// +optional
	TotalSamplesCount int64 `json:"totalSamplesCount"`
}

// HistogramCheckpoint is a histogram whose weights decay by half in a day.
type HistogramCheckpoint struct {
	// referenceTimestamp is the time at which a sample has its own weight; a later one weighs more.
	// Example: "2027-02-28T00:00:00Z"
	// +optional
	ReferenceTimestamp *metav1.Time `json:"referenceTimestamp,omitempty"`

	// bucketWeights are the weights of the buckets that are not empty, by the bucket's number; the heaviest has 10000.
	// Example: {"12": 10000, "13": 421}
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	BucketWeights map[string]int32 `json:"bucketWeights,omitempty"`

	// totalWeight is the sum of the weights as they were, as a decimal number: an object of the API has no other way to keep a
	// float.
	// Example: "1.7e+03"
	// +kubebuilder:validation:MaxLength=32
	// +optional
	TotalWeight string `json:"totalWeight,omitempty"`
}

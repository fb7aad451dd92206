// SPDX-License-Identifier: Apache-2.0

package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Record is what is kept of a Pod.
type Record struct {
	name string
}

var _ mirror.Object = (*Record)(nil)

// Owner is the controller of a Pod; the zero value: it has none.
type Owner struct {
	UID  types.UID
	Kind string
	Name string
}

// Key is the Pod's namespace and name.
func (r *Record) Key() mirror.Key { return mirror.Key{Name: r.name} }

// Pod is what a decision must know of it.
func (r *Record) Pod() replicas.Pod { return replicas.Pod{Name: r.name} }

// Node is where the Pod is bound; empty: nowhere yet.
func (r *Record) Node() string { return "" }

// Phase is the Pod's.
func (r *Record) Phase() corev1.PodPhase { return "" }

// Terminating says that the Pod has a deletion timestamp.
func (r *Record) Terminating() bool { return false }

// Priority is spec.priority; 0 if there is none.
func (r *Record) Priority() int32 { return 0 }

// Owner is the Pod's controller.
func (r *Record) Owner() Owner { return Owner{} }

// Labels are the Pod's.
func (r *Record) Labels() labels.Labels { return labels.Set(nil) }

// Reserves is what the scheduler holds free for the Pod, init containers and overhead included: milli of cpu, units of
// all else. The map is shared: do not write to it.
func (r *Record) Reserves() map[corev1.ResourceName]int64 { return nil }

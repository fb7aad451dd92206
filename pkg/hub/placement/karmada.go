// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bindings is the API in which Karmada says where it placed a workload.
var bindings = schema.GroupVersion{Group: "work.karmada.io", Version: "v1alpha2"}

// lookAgain is how long a hub that is not Karmada's is taken to stay so.
const lookAgain = time.Minute

// ResourceBinding is what we read of Karmada's object of that name. There is one for each workload that it propagates.
type ResourceBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ResourceBindingSpec `json:"spec"`
}

// ResourceBindingSpec says where a workload is.
type ResourceBindingSpec struct {
	// Replicas are those of the whole workload; 0 for what has none that Karmada knows of.
	Replicas int32 `json:"replicas,omitempty"`
	// Clusters are where it is placed.
	Clusters []ResourceBindingCluster `json:"clusters,omitempty"`
	// Placement is by what rule. Nil: not said.
	Placement *ResourceBindingPlacement `json:"placement,omitempty"`
}

// ResourceBindingPlacement says how replicas come to clusters.
type ResourceBindingPlacement struct {
	// ReplicaScheduling is nil where each cluster runs all of them.
	ReplicaScheduling *ResourceBindingReplicaScheduling `json:"replicaScheduling,omitempty"`
}

// ResourceBindingReplicaScheduling is Divided or Duplicated, which is the default.
type ResourceBindingReplicaScheduling struct {
	ReplicaSchedulingType string `json:"replicaSchedulingType,omitempty"`
}

// ResourceBindingCluster is the part of one cluster.
type ResourceBindingCluster struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (b *ResourceBinding) DeepCopyObject() runtime.Object {
	c := *b
	b.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Clusters = append([]ResourceBindingCluster(nil), b.Spec.Clusters...)
	if p := b.Spec.Placement; p != nil {
		c.Spec.Placement = &ResourceBindingPlacement{}
		if p.ReplicaScheduling != nil {
			c.Spec.Placement.ReplicaScheduling = new(*p.ReplicaScheduling)
		}
	}
	return &c
}

// ResourceBindingList is a list of them.
type ResourceBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ResourceBinding `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *ResourceBindingList) DeepCopyObject() runtime.Object {
	c := *l
	l.DeepCopyInto(&c.ListMeta)
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*ResourceBinding))
	}
	return &c
}

// AddToScheme makes scheme know the kinds that placements are read from.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(bindings, &ResourceBinding{}, &ResourceBindingList{})
	scheme.AddKnownTypes(inventory, &PlacementDecision{}, &PlacementDecisionList{})
	for _, version := range []schema.GroupVersion{bindings, inventory} {
		metav1.AddToGroupVersion(scheme, version) // without it they can be read, but not listed
	}
	return nil
}

// Karmada reads where Karmada placed workloads, if the hub is Karmada's.
type Karmada struct {
	hub   client.Reader // cached
	clock clock.PassiveClock

	mu      sync.Mutex
	foreign time.Time // when the hub last was not Karmada's
}

// NewKarmada reads by hub, whose scheme is that of [AddToScheme].
func NewKarmada(hub client.Reader, clock clock.PassiveClock) *Karmada {
	return &Karmada{hub: hub, clock: clock}
}

// Of implements [Source].
func (k *Karmada) Of(ctx context.Context, namespace string, workload autoscalingv2.CrossVersionObjectReference) (map[string]*int32, Rule,
	error) {
	if k.isForeign() {
		return nil, Nobody, nil
	}
	binding := &ResourceBinding{}
	name := strings.ToLower(workload.Name + "-" + workload.Kind)
	err := k.hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, binding)
	switch {
	case meta.IsNoMatchError(err):
		k.setForeign()
		return nil, Nobody, nil
	case apierrors.IsNotFound(err):
		return nil, Unplaced, &TemplateFault{fmt.Sprintf(
			"karmada does not propagate it: there is no ResourceBinding %q; give it a PropagationPolicy", name)}
	case err != nil:
		return nil, Nobody, err
	}
	return binding.placement(), binding.rule(), nil
}

// TemplateFault is why a workload's replicas cannot be told on the hub, although they can in each member: nobody brings them there.
type TemplateFault struct{ message string }

func (f *TemplateFault) Error() string { return f.message }

// rule is that of the placement, of which Duplicated is the default.
func (b *ResourceBinding) rule() Rule {
	switch p := b.Spec.Placement; {
	case p == nil:
		return Unsaid
	case p.ReplicaScheduling != nil && p.ReplicaScheduling.ReplicaSchedulingType == string(Divided):
		return Divided
	default:
		return Duplicated
	}
}

// placement is the number of replicas by cluster; not known if Karmada knows of none.
func (b *ResourceBinding) placement() map[string]*int32 {
	placed := map[string]*int32{}
	for _, c := range b.Spec.Clusters {
		placed[c.Name] = nil
		if b.Spec.Replicas > 0 {
			placed[c.Name] = &c.Replicas
		}
	}
	return placed
}

func (k *Karmada) isForeign() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.foreign.IsZero() && k.clock.Since(k.foreign) < lookAgain
}

func (k *Karmada) setForeign() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.foreign = k.clock.Now()
}

// SPDX-License-Identifier: Apache-2.0

// Package claims decides who else scales a workload, and says what to do about it. A claim is an autoscaler's on the
// workload of another one, who asks: on the hub, when an object is stored or works, or in a member.
package claims

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const localKind = "HorizontalPodAutoscaler"

// Autoscaler is what claims are judged by.
type Autoscaler struct {
	Kind, Namespace, Name string
	Target                autoscalingv2.CrossVersionObjectReference
	ManagedBy             string // the uid of the FederatedHPA that a HorizontalPodAutoscaler is ours for; empty: it is not ours
	AdoptBy               string // the FederatedHPA that a HorizontalPodAutoscaler is given to
	Deleting              bool

	UID    types.UID // of a FederatedHPA that asks about a member, where only what is managed by it is its own; empty on the hub
	Adopts bool      // it asks about a member, and has an autoscaler of its name there

	// SizesOnly is for a MultidimPodAutoscaler without goals: it leaves replicas to others.
	SizesOnly bool
	// Made is for a MultidimPodAutoscaler that is seen by the FederatedHPA that it made: the name of that.
	Made string
}

// Of reads an autoscaler as it stands on the hub or in a member. A FederatedHPA that a MultidimPodAutoscaler made stands for
// that: who is in its way, or has it in theirs, can do something about that one only.
func Of(object metav1.Object) Autoscaler {
	a := Autoscaler{Namespace: object.GetNamespace(), Name: object.GetName(), Deleting: object.GetDeletionTimestamp() != nil}
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		a.Kind, a.Target = v1alpha1.FederatedHPAKind, o.Spec.ScaleTargetRef
		if owner, owned := multidimOf(o); owned {
			a.Kind, a.Name, a.Made = v1alpha1.MultidimPodAutoscalerKind, owner, o.Name
		}
	case *v1alpha1.MultidimPodAutoscaler:
		a.Kind, a.Target = v1alpha1.MultidimPodAutoscalerKind, o.Spec.ScaleTargetRef
		a.SizesOnly = o.Spec.Goals == nil
	case *v1alpha1.CronFederatedHPA:
		a.Kind, a.Target = v1alpha1.CronFederatedHPAKind, o.Spec.ScaleTargetRef
	case *autoscalingv2.HorizontalPodAutoscaler:
		a.Kind, a.Target = localKind, o.Spec.ScaleTargetRef
		a.ManagedBy, a.AdoptBy = o.Labels[v1alpha1.ManagedByLabel], o.Annotations[v1alpha1.AdoptByAnnotation]
	}
	return a
}

// multidimOf is the name of the MultidimPodAutoscaler that made a FederatedHPA.
func multidimOf(f *v1alpha1.FederatedHPA) (name string, owned bool) {
	owner := metav1.GetControllerOfNoCopy(f)
	if owner == nil || owner.Kind != v1alpha1.MultidimPodAutoscalerKind {
		return "", false
	}
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return owner.Name, err == nil && gv.Group == v1alpha1.GroupName
}

// InMember is a FederatedHPA that asks about the autoscalers of a member. One that adopts has its own there.
func InMember(f *v1alpha1.FederatedHPA, adopts bool) Autoscaler {
	a := Of(f)
	a.Kind, a.Name, a.UID, a.Adopts = v1alpha1.FederatedHPAKind, f.Name, f.UID, adopts
	return a
}

// Ours reports whether we made an object in a member for the FederatedHPA with this uid, whatever it is called.
func Ours(object metav1.Object, uid types.UID) bool {
	return uid != "" && object.GetLabels()[v1alpha1.ManagedByLabel] == string(uid)
}

// Owns reports whether other was made for a, or given to it.
func (a Autoscaler) Owns(other Autoscaler) bool {
	given := a.Adopts && a.Name != "" && other.AdoptBy == a.Name && other.Namespace == a.Namespace
	return a.UID != "" && other.ManagedBy == string(a.UID) || given && Same(a.Target, other.Target)
}

// Claim is one autoscaler's on the workload of another, or on the name that the other's own would have in a member.
type Claim struct {
	by, asker Autoscaler
	name      bool
}

// On are the claims of others on what asker scales. On the hub no autoscaler counts that is being deleted, or that we made
// there as in a member. In a member everything counts that asker does not own: what is deleted there scales until it is gone.
func On[T metav1.Object](asker Autoscaler, others ...T) []Claim {
	var found []Claim
	for _, object := range others {
		other := Of(object)
		itself := other.Kind == asker.Kind && other.Name == asker.Name
		same := Same(asker.Target, other.Target) || asker.bounds(other)
		switch {
		case itself, asker.Owns(other), asker.UID == "" && (other.Deleting || other.ManagedBy != "" || bothMay(asker, other)):
		case same, asker.Adopts && other.Name == asker.Name:
			found = append(found, Claim{by: other, asker: asker, name: !same})
		}
	}
	return found
}

// bounds reports whether a is rules for the FederatedHPA that other, a MultidimPodAutoscaler, made: it sets the bounds back.
func (a Autoscaler) bounds(other Autoscaler) bool {
	made := autoscalingv2.CrossVersionObjectReference{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.FederatedHPAKind, Name: other.Made,
	}
	return a.Kind == v1alpha1.CronFederatedHPAKind && other.Made != "" && Same(a.Target, made)
}

// bothMay reports whether one sets the replicas of what the other only sizes. An autoscaler is no such one: its goals and the
// sizes would move each other.
func bothMay(a, b Autoscaler) bool {
	return a.SizesOnly && b.Kind == v1alpha1.CronFederatedHPAKind || b.SizesOnly && a.Kind == v1alpha1.CronFederatedHPAKind
}

// Same reports whether two references name one object, be it in two versions.
func Same(a, b autoscalingv2.CrossVersionObjectReference) bool {
	return a.Kind == b.Kind && a.Name == b.Name && Group(a) == Group(b)
}

// Group is the API group of a reference; if that cannot be read, "".
func Group(ref autoscalingv2.CrossVersionObjectReference) string {
	gv, _ := schema.ParseGroupVersion(ref.APIVersion)
	return gv.Group
}

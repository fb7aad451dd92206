// SPDX-License-Identifier: Apache-2.0

// Package claims decides who else scales or sizes a workload, and says what to do about it. A claim is an autoscaler's on the
// workload of another one, who asks: on the hub, when an object is stored or works, or in a member.
package claims

import (
	"cmp"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
)

const localKind = "HorizontalPodAutoscaler"

// Autoscaler is what claims are judged by.
type Autoscaler struct {
	Kind, Namespace, Name string
	Target                autoscalingv2.CrossVersionObjectReference
	ManagedBy             string // the uid of the FederatedHPA that a HorizontalPodAutoscaler is ours for; empty: it is not ours
	AdoptBy               string // the FederatedHPA that a HorizontalPodAutoscaler is given to
	Deleting              bool
	OnlyAdvises           bool // a VerticalPodAutoscaler that changes nothing

	UID    types.UID // of the FederatedHPA that asks about a member, or for which is asked: only what is managed by it is its own there
	Adopts bool      // it asks about a member, and has an autoscaler of its name there
	member bool      // it asks about a member, and not about the hub

	// Observes is for a FederatedHPA that only reports what it would do, and has no autoscalers in members, which would go on scaling: it may
	// stand beside any other.
	Observes bool
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
		a.Observes = o.Spec.Mode == v1alpha1.ModeObserve && !slices.Contains(o.Finalizers, v1alpha1.MemberAutoscalersFinalizer)
		if owner, owned := multidimOf(o); owned {
			a.Kind, a.Name, a.Made, a.Observes = v1alpha1.MultidimPodAutoscalerKind, owner, o.Name, false
		}
	case *v1alpha1.MultidimPodAutoscaler:
		a.Kind, a.Target = v1alpha1.MultidimPodAutoscalerKind, o.Spec.ScaleTargetRef
		a.SizesOnly = o.Spec.Goals == nil
	case *v1alpha1.CronFederatedHPA:
		a.Kind, a.Target = v1alpha1.CronFederatedHPAKind, o.Spec.ScaleTargetRef
	case *autoscalingv2.HorizontalPodAutoscaler:
		a.Kind, a.Target = localKind, o.Spec.ScaleTargetRef
		a.ManagedBy, a.AdoptBy = o.Labels[v1alpha1.ManagedByLabel], o.Annotations[v1alpha1.AdoptByAnnotation]
	case *vpa.VerticalPodAutoscaler:
		a.Kind, a.Target, a.OnlyAdvises = vpa.Kind, o.Spec.TargetRef, !o.Acts()
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
	a.Kind, a.Name, a.UID, a.Adopts, a.member = v1alpha1.FederatedHPAKind, f.Name, f.UID, adopts, true
	return a
}

// MultidimInMember is a MultidimPodAutoscaler that asks about the autoscalers of a member. Its own there are those of its
// FederatedHPA, which has the uid child; empty: it has none.
func MultidimInMember(m *v1alpha1.MultidimPodAutoscaler, child types.UID) Autoscaler {
	a := Of(m)
	a.UID, a.member = child, true
	return a
}

// CronInMember is a CronFederatedHPA of a workload that asks about the autoscalers of a member. It has none of its own there.
func CronInMember(c *v1alpha1.CronFederatedHPA) Autoscaler {
	a := Of(c)
	a.member = true
	return a
}

// Ours reports whether we made an object in a member for the FederatedHPA with this uid, whatever it is called.
func Ours(object metav1.Object, uid types.UID) bool {
	return uid != "" && object.GetLabels()[v1alpha1.ManagedByLabel] == string(uid)
}

// Owns reports whether other was made for a, or given to it. What was made for somebody else cannot be given: two hubs, each with
// one of that name, would take it from each other.
func (a Autoscaler) Owns(other Autoscaler) bool {
	if other.ManagedBy != "" {
		return other.ManagedBy == string(a.UID)
	}
	return a.Adopts && a.Name != "" && other.AdoptBy == a.Name && other.Namespace == a.Namespace && Same(a.Target, other.Target)
}

// Claim is one autoscaler's on the workload of another, or on the name that the other's own would have in a member.
type Claim struct {
	by, asker Autoscaler
	name      bool
}

// On are the claims of others on what asker scales or sizes. On the hub no autoscaler counts that is being deleted, or that we made
// there as in a member. In a member everything counts that asker does not own: what is deleted there scales until it is gone.
func On[T metav1.Object](asker Autoscaler, others ...T) []Claim {
	return claimsOf(asker, others, func(object T) Autoscaler { return Of(object) })
}

func claimsOf[T any](asker Autoscaler, others []T, of func(T) Autoscaler) []Claim {
	var found []Claim
	for _, object := range others {
		other := of(object)
		itself := other.Kind == asker.Kind && other.Name == asker.Name
		same := Same(asker.Target, other.Target) || asker.bounds(other)
		switch {
		case itself, asker.Owns(other), bothMay(asker, other), !asker.member && (other.Deleting || other.ManagedBy != ""):
		case same, asker.Adopts && other.Name == asker.Name:
			found = append(found, Claim{by: other, asker: asker, name: !same})
		}
	}
	return found
}

// Beside are the claims that asker, if it only observes, will meet once nobody does; none of one that acts, for which [On] has them.
func Beside[T metav1.Object](asker Autoscaler, others ...T) []Claim {
	if !asker.Observes {
		return nil
	}
	asker.Observes = false
	return claimsOf(asker, others, func(object T) Autoscaler {
		other := Of(object)
		other.Observes = false
		return other
	})
}

// bounds reports whether a is rules for the FederatedHPA that other, a MultidimPodAutoscaler, made: it sets the bounds back.
func (a Autoscaler) bounds(other Autoscaler) bool {
	made := autoscalingv2.CrossVersionObjectReference{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.FederatedHPAKind, Name: other.Made,
	}
	return a.Kind == v1alpha1.CronFederatedHPAKind && other.Made != "" && Same(a.Target, made)
}

// bothMay reports whether one only observes, or sets the replicas of what the other only sizes. Of autoscalers that holds for a
// VerticalPodAutoscaler alone, as its users expect; a MultidimPodAutoscaler takes its goals and its sizes into account together,
// and others would move them.
func bothMay(asker, other Autoscaler) bool {
	const cron = v1alpha1.CronFederatedHPAKind
	if asker.Observes || other.Observes {
		return asker.Kind != cron && other.Kind != cron
	}
	if other.Kind == vpa.Kind {
		return other.OnlyAdvises || asker.Kind != v1alpha1.MultidimPodAutoscalerKind
	}
	return asker.SizesOnly && other.Kind == cron || other.SizesOnly && asker.Kind == cron
}

// Prior are the claims of other MultidimPodAutoscalers of the hub that go before the one of m. Of all that name one workload the
// oldest works, and of those that were made in one second the one with the smallest uid.
func Prior(m *v1alpha1.MultidimPodAutoscaler, others ...*v1alpha1.MultidimPodAutoscaler) []Claim {
	before := slices.DeleteFunc(slices.Clone(others), func(other *v1alpha1.MultidimPodAutoscaler) bool {
		return cmp.Or(other.CreationTimestamp.Compare(m.CreationTimestamp.Time), cmp.Compare(other.UID, m.UID)) >= 0
	})
	return On(Of(m), before...)
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

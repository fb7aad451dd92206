// SPDX-License-Identifier: Apache-2.0

package served

import (
	"encoding/json"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

// assignment is the field of the spec that makes an object one of distributed
// mode, and mode the one that keeps it from acting.
const (
	assignment = "federatedHPAAssignment"
	mode       = "mode"
)

// Cut returns the fields of its spec that an object has lost to a schema which is
// not ours. Empty: it is as its owner wants it, or of a kind that Karmada does not have.
//
// Its copy (package speccopy) has them: an admitted edit refreshes the copy, and
// nothing else takes a field out of it.
//
// Without a copy, as of objects from before there were any, that a FederatedHPA is
// cut is told where it was in distributed mode, or did not act, and for the loss
// alone would do otherwise: by managedFields, also long after, and whatever else of
// the spec was edited meanwhile. Where those were wiped, the generation tells:
// dropping makes no new one, and an edit does.
func Cut(object metav1.Object) []string {
	var lost []string
	for _, path := range speccopy.Missing(object) {
		lost = append(lost, path.String())
	}
	if f, is := object.(*v1alpha1.FederatedHPA); is {
		lost = append(lost, withoutCopy(f)...)
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

// Restore puts the fields back that the object's copy has, and reports those that it lacks.
func Restore(object metav1.Object) (missing []string) {
	speccopy.Restore(object, speccopy.Missing(object))
	return Cut(object)
}

func withoutCopy(object *v1alpha1.FederatedHPA) []string {
	if !wasDistributed(object) && !didNotAct(object) {
		return nil
	}
	lost := unremoved(object)
	switch {
	case !wasDistributed(object) && !slices.Contains(lost, mode):
		return nil
	case wasDistributed(object) && !slices.Contains(lost, assignment):
		if seen := object.Status.ObservedGeneration; seen == nil || *seen != object.Generation {
			return nil
		}
		lost = append(lost, assignment)
	}
	return lost
}

// MayBeCut reports whether an object lacks what its copy has, or was in distributed
// mode and no longer is, or has begun to act, for whatever reason. [Cut] needs the
// managedFields of such objects only.
func MayBeCut(object metav1.Object) bool {
	f, is := object.(*v1alpha1.FederatedHPA)
	return is && (wasDistributed(f) || didNotAct(f)) || len(speccopy.Lacking(object)) > 0
}

// wasDistributed: the object is no longer in distributed mode, and has not been given what excludes it either.
func wasDistributed(object *v1alpha1.FederatedHPA) bool {
	return !object.Distributed() && object.Spec.ReplicaDistribution == nil &&
		slices.Contains(object.Finalizers, v1alpha1.MemberAutoscalersFinalizer)
}

// didNotAct: the object has no mode, and its status was written in one that is not Active.
func didNotAct(object *v1alpha1.FederatedHPA) bool {
	return object.Spec.Mode == "" &&
		slices.ContainsFunc(object.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
			return c.Type == v1alpha1.Acting && c.Status == corev1.ConditionFalse
		})
}

// unremoved are the fields of the spec that somebody set and nobody removed, and
// that are not there.
func unremoved(object *v1alpha1.FederatedHPA) (all []string) {
	there := map[string]json.RawMessage{}
	if text, err := json.Marshal(object.Spec); err != nil || json.Unmarshal(text, &there) != nil {
		return nil
	}
	for _, entry := range object.ManagedFields {
		for _, field := range setInSpec(entry) {
			if _, found := there[field]; !found {
				all = append(all, field)
			}
		}
	}
	return all
}

// setInSpec are the fields of the spec that the entry's manager owns as such.
func setInSpec(entry metav1.ManagedFieldsEntry) (all []string) {
	for key := range speccopy.Owned(entry) {
		if name, field := strings.CutPrefix(key, "f:"); field && speccopy.Owns(entry, speccopy.Path{name}) {
			all = append(all, name)
		}
	}
	return all
}

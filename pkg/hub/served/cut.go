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

// Cut returns the fields of its spec that a FederatedHPA has lost to a schema which
// is not ours. Empty: it is as its owner wants it.
//
// Its copy (package speccopy) has them: an admitted edit refreshes the copy, and
// nothing else takes a field out of it. An edit past the webhook does not; such an
// edit takes the field out of metadata.managedFields, whoever set it, and
// dropping does not: no schema reaches there.
//
// Without a copy, as of objects from before there were any, that one is cut is told
// where it was in distributed mode, or did not act, and for the loss alone would do
// otherwise: by managedFields, also long after, and whatever else of the spec was
// edited meanwhile. Where those were wiped, the generation tells: dropping makes no
// new one, and an edit does.
func Cut(object *v1alpha1.FederatedHPA) []string {
	if !MayBeCut(object) {
		return nil
	}
	var lost []string
	for _, path := range fromCopy(object) {
		lost = append(lost, path.String())
	}
	lost = append(lost, withoutCopy(object)...)
	slices.Sort(lost)
	return slices.Compact(lost)
}

// Restore puts the fields back that the object's copy has, and reports those that it lacks.
func Restore(object *v1alpha1.FederatedHPA) (missing []string) {
	speccopy.Restore(object, fromCopy(object))
	return Cut(object)
}

// fromCopy are the fields that the copy has, and nobody removed.
func fromCopy(object *v1alpha1.FederatedHPA) []speccopy.Path {
	lost := speccopy.Lost(speccopy.Kept(object), speccopy.Of(object))
	if len(lost) == 0 || !tracked(object) {
		return lost
	}
	return slices.DeleteFunc(lost, func(path speccopy.Path) bool {
		return !slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return owns(entry, path) })
	})
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
func MayBeCut(object *v1alpha1.FederatedHPA) bool {
	return wasDistributed(object) || didNotAct(object) || len(speccopy.Lost(speccopy.Kept(object), speccopy.Of(object))) > 0
}

func wasDistributed(object *v1alpha1.FederatedHPA) bool {
	return !object.Distributed() && slices.Contains(object.Finalizers, v1alpha1.MemberAutoscalersFinalizer)
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
// Who applies owns a field by what is in it. Who updates owns it itself too, and
// of one that was set by others since may own some remains, which say nothing.
func setInSpec(entry metav1.ManagedFieldsEntry) (all []string) {
	for key := range specOf(entry) {
		if name, field := strings.CutPrefix(key, "f:"); field && owns(entry, speccopy.Path{name}) {
			all = append(all, name)
		}
	}
	return all
}

// owns reports whether the entry's manager owns what the path leads to, as setInSpec says.
func owns(entry metav1.ManagedFieldsEntry, path speccopy.Path) bool {
	within := specOf(entry)
	for _, name := range path {
		text, found := within["f:"+name]
		if !found {
			return false
		}
		within = nil
		if json.Unmarshal(text, &within) != nil {
			return false
		}
	}
	_, itself := within["."]
	return itself || len(within) == 0 || entry.Operation == metav1.ManagedFieldsOperationApply
}

// tracked reports whether it is known of anything in the spec who set it.
func tracked(object *v1alpha1.FederatedHPA) bool {
	return slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return len(specOf(entry)) > 0 })
}

// specOf is what the entry's manager owns in the spec.
func specOf(entry metav1.ManagedFieldsEntry) map[string]json.RawMessage {
	var owned struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if entry.Subresource != "" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
		return nil
	}
	return owned.Spec
}

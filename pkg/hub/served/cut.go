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
)

// assignment is the field of the spec that makes an object one of distributed
// mode, and mode the one that keeps it from acting.
const (
	assignment = "federatedHPAAssignment"
	mode       = "mode"
)

// Cut returns the fields of its spec that an object has lost to a schema which
// is not ours, if it was in distributed mode, or did not act, and for that reason
// alone it would do otherwise. Empty: it is as its owner wants it.
//
// A field that the hub drops stays in metadata.managedFields: no schema reaches
// there, so it is remembered who set the field. An edit that removes a field
// takes it out there as well, whoever set it. So the two can be told apart by
// the object alone, also long after, and whatever else of the spec was edited
// meanwhile. Where managedFields were wiped, the generation tells: dropping makes
// no new one, and an edit does.
func Cut(object *v1alpha1.FederatedHPA) []string {
	if !MayBeCut(object) {
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
	slices.Sort(lost)
	return slices.Compact(lost)
}

// MayBeCut reports whether an object was in distributed mode and no longer is, or
// has begun to act, for whatever reason. [Cut] needs the managedFields of such
// objects only.
func MayBeCut(object *v1alpha1.FederatedHPA) bool { return wasDistributed(object) || didNotAct(object) }

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
	var owned struct {
		Spec map[string]map[string]json.RawMessage `json:"f:spec"`
	}
	if entry.Subresource != "" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
		return nil
	}
	for key, within := range owned.Spec {
		_, itself := within["."]
		name, field := strings.CutPrefix(key, "f:")
		if field && (itself || len(within) == 0 || entry.Operation == metav1.ManagedFieldsOperationApply) {
			all = append(all, name)
		}
	}
	return all
}

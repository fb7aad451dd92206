// SPDX-License-Identifier: Apache-2.0

package speccopy

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Missing are the fields that an object has lost: its copy has them, and nobody removed them, not even past the webhook. Who does that
// takes the field out of metadata.managedFields, whoever set it; dropping does not, as no schema reaches there.
func Missing(object metav1.Object) []Path {
	return slices.DeleteFunc(Lacking(object), func(path Path) bool { return removed(object, path) })
}

// Lacking are the fields that the copy of an object has and the object has not, for whatever reason.
func Lacking(object metav1.Object) []Path {
	if object.GetAnnotations()[v1alpha1.SpecAnnotation] == "" || Agrees(object) {
		return nil
	}
	return lost(Kept(object), Of(object))
}

// removed: somebody took a field out of the spec, which the copy of the object still has.
func removed(object metav1.Object, path Path) bool {
	if cron, is := object.(*v1alpha1.CronFederatedHPA); is && path[0] == rulesField {
		return editedSince(cron)
	}
	return unowned(object.GetManagedFields(), path)
}

// editedSince: the spec was edited since the controller saw it. Of a list, managedFields do not know what is in it. But who drops a
// field of the spec drops what the status says of the spec with it.
func editedSince(c *v1alpha1.CronFederatedHPA) bool {
	seen := c.Status.ObservedGeneration
	return seen != nil && *seen != c.Generation
}

// unowned: it is known who owns the spec, and nobody owns what the path leads to.
func unowned(entries []metav1.ManagedFieldsEntry, path Path) bool {
	tracked := slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return len(Owned(entry)) > 0 })
	return tracked && !slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return Owns(entry, path) })
}

// Owns reports whether the entry's manager owns what the path leads to as such. Who applies owns a field by what is in it. Who updates
// owns it itself too, and of one that was set by others since may own some remains, which say nothing.
func Owns(entry metav1.ManagedFieldsEntry, path Path) bool {
	within := Owned(entry)
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

// Owned is what the entry's manager owns in the spec, by the names that managedFields have.
func Owned(entry metav1.ManagedFieldsEntry) map[string]json.RawMessage {
	var owned struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if entry.Subresource != "" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
		return nil
	}
	return owned.Spec
}

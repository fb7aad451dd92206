// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// SetPodSizes implements [Sizer].
func (s sizer) SetPodSizes(ctx context.Context, namespace string, owner types.UID, entry v1alpha1.SizedWorkload) error {
	stored, err := s.applyPodSizes(ctx, namespace, owner, entry)
	if err == nil {
		err = standsAs(stored, entry)
	}
	if err != nil {
		return fmt.Errorf("writing the sizes of Pods of %q: %w", entry.Name, err)
	}
	return nil
}

// standsAs is nil if the entry stands as it was written: what others have added to it stays there, and counts.
func standsAs(stored *v1alpha1.PodSizes, entry v1alpha1.SizedWorkload) error {
	if stands := (PodSizes{Workloads: stored.Workloads}).Find(entry.Name); stands != nil && equality.Semantic.DeepEqual(*stands, entry) {
		return nil
	}
	return &Refused{Why: RefusedTaken, Message: "somebody else has written to them too: delete the entry there"}
}

// RemovePodSizes implements [Sizer].
func (s sizer) RemovePodSizes(ctx context.Context, namespace string, owner types.UID, name string) error {
	if err := s.removePodSizes(ctx, namespace, owner, name); err != nil {
		return fmt.Errorf("removing the sizes of Pods of %q: %w", name, err)
	}
	return nil
}

func (s sizer) removePodSizes(ctx context.Context, namespace string, owner types.UID, name string) error {
	if silence := s.Silence(); silence != nil {
		return silence
	}
	request := connection.At(s.Client().Get(), podSizesResource, namespace).Name(v1alpha1.PodSizesName)
	if err := request.MaxRetries(0).Do(ctx).Error(); apierrors.IsNotFound(err) {
		return nil // it would be made
	} else if err != nil {
		return refusedOr(err, "get "+v1alpha1.PodSizesResource)
	}
	stored, err := s.applyPodSizes(ctx, namespace, owner)
	var refused *Refused
	switch {
	case errors.As(err, &refused) && refused.Why == RefusedInvalid, // a part of it stays, which nobody else wrote whole
		err == nil && PodSizes{Workloads: stored.Workloads}.Find(name) != nil:
		return &Refused{Why: RefusedTaken, Message: "somebody else has written to them too: delete the entry there", err: err}
	case err != nil:
		return err
	case len(stored.Workloads) > 0:
		return nil
	}
	request = connection.At(s.Client().Delete(), podSizesResource, namespace).Name(v1alpha1.PodSizesName).MaxRetries(0)
	err = connection.Delete(ctx, request, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &stored.UID, ResourceVersion: &stored.ResourceVersion},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another entry has come
		return nil
	}
	return refusedOr(err, "delete "+v1alpha1.PodSizesResource)
}

// applyPodSizes has the owner's manager own these entries, one or none, and returns what is stored.
func (s sizer) applyPodSizes(ctx context.Context, namespace string, owner types.UID,
	entries ...v1alpha1.SizedWorkload) (*v1alpha1.PodSizes, error) {
	if silence := s.Silence(); silence != nil {
		return nil, silence
	}
	body, err := podSizesOf(namespace, entries)
	if err != nil {
		return nil, err
	}
	request := connection.At(s.Client().Patch(types.ApplyPatchType), podSizesResource, namespace).Name(v1alpha1.PodSizesName).
		Param("fieldManager", sizesManagerOf(owner)).Param("force", "false").Body(body).MaxRetries(0)
	answer, err := connection.Answer(ctx, request)
	if fault := connection.NamespaceFault(err, namespace); fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, refusedOr(err, "patch "+v1alpha1.PodSizesResource)
	}
	return connection.DecodeKind(ctx, s.Reading(), answer, &v1alpha1.PodSizes{}, v1alpha1.PodSizesKind)
}

// podSizesOf is an object with these entries. One with none leaves the list out: an empty one would be owned.
func podSizesOf(namespace string, entries []v1alpha1.SizedWorkload) ([]byte, error) {
	object := map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": v1alpha1.PodSizesKind,
		"metadata": map[string]string{"namespace": namespace, "name": v1alpha1.PodSizesName},
	}
	if len(entries) > 0 {
		object["workloads"] = entries
	}
	return json.Marshal(object)
}

// sizesManagerOf owns what is written for one MultidimPodAutoscaler: so no two of them take an entry from each other, be they of two
// hubs.
func sizesManagerOf(owner types.UID) string { return SizesManager + "." + string(owner) }

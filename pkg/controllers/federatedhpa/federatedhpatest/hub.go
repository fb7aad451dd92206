// SPDX-License-Identifier: Apache-2.0

package federatedhpatest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// FederatedHPAs is the resource.
var FederatedHPAs = schema.GroupResource{Group: v1alpha1.GroupName, Resource: "federatedhpas"}

// Hub is an API server of FederatedHPAs, with what of one matters here: what is stored went through JSON; a write holds only if nobody
// wrote since; one that changes nothing is none; an object goes with its last finalizer.
type Hub struct {
	client.Client // nil: whatever else is called is a panic
	*World

	Version int // of the last object that was stored
	Objects map[client.ObjectKey]*v1alpha1.FederatedHPA
	former  map[client.ObjectKey]*v1alpha1.FederatedHPA
	// Stale has an object be read as it was a write ago, until it was read as it is; nil: none is.
	Stale func() bool
	// Others reads what is of another kind.
	Others func(key client.ObjectKey, into client.Object) error
	// Reach reports whether a call gets through, and whether its answer gets back; nil: both.
	Reach func() (through bool, err error)

	// FailStatus is called before a status is written, FailPatch before anything else is.
	FailStatus, FailPatch func() error
	// Prunes leaves out of a status what is not stored, and Drops out of what else is written.
	Prunes func(*v1alpha1.FederatedHPAStatus)
	Drops  func(*v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA
	// Wrote hears of a write: of a patch, or without one of a status.
	Wrote        func(patch []byte, after *v1alpha1.FederatedHPA)
	StatusWrites int
	Patched      []string // the field managers of all other writes
}

// NewHub has no objects.
func NewHub(w *World) *Hub {
	return &Hub{World: w, Objects: map[client.ObjectKey]*v1alpha1.FederatedHPA{}, former: map[client.ObjectKey]*v1alpha1.FederatedHPA{}}
}

// Put stores an object as a person does.
func (h *Hub) Put(object *v1alpha1.FederatedHPA) {
	h.Lock()
	defer h.Unlock()
	h.store(ThroughJSON(h.T, object))
}

func (h *Hub) store(object *v1alpha1.FederatedHPA) {
	key := client.ObjectKeyFromObject(object)
	h.Version++
	object.ResourceVersion = strconv.Itoa(h.Version)
	h.former[key], h.Objects[key] = h.Objects[key], object
	if object.DeletionTimestamp != nil && len(object.Finalizers) == 0 {
		delete(h.former, key)
		delete(h.Objects, key)
	}
}

// Remove deletes an object as a person does.
func (h *Hub) Remove(key client.ObjectKey) {
	object := h.Stored(key)
	object.DeletionTimestamp = &metav1.Time{Time: h.Clock.Now()}
	h.Put(object)
}

// Stored is an object as the hub has it.
func (h *Hub) Stored(key client.ObjectKey) *v1alpha1.FederatedHPA {
	h.T.Helper()
	h.Lock()
	defer h.Unlock()
	if h.Objects[key] == nil {
		h.T.Fatalf("there is no FederatedHPA %s", key)
	}
	return h.Objects[key].DeepCopy()
}

// Get reads an object.
func (h *Hub) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	h.Lock()
	defer h.Unlock()
	if _, err := h.reach(); err != nil {
		return err
	}
	f, known := into.(*v1alpha1.FederatedHPA)
	if !known {
		return h.Others(key, into)
	}
	found := h.Objects[key]
	if former := h.former[key]; former != nil && h.Stale != nil && h.Stale() {
		found = former
	} else {
		delete(h.former, key)
	}
	if found == nil {
		return apierrors.NewNotFound(FederatedHPAs, key.Name)
	}
	found.DeepCopyInto(f)
	return nil
}

func (h *Hub) reach() (through bool, err error) {
	if h.Reach == nil {
		return true, nil
	}
	return h.Reach()
}

// Patch is a write of anything but the status.
func (h *Hub) Patch(_ context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	text, err := patch.Data(object)
	if err != nil {
		return err
	}
	var sent v1alpha1.FederatedHPA
	if err := json.Unmarshal(text, &sent); err != nil || sent.ResourceVersion == "" {
		h.T.Errorf("patched with %s: %v", text, err)
	}
	o := client.PatchOptions{}
	o.ApplyOptions(opts)
	h.Lock()
	defer h.Unlock()
	into, after := object.(*v1alpha1.FederatedHPA), &v1alpha1.FederatedHPA{}
	err = h.update(into, sent.ResourceVersion, h.FailPatch, func(stored *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA {
		after = h.merged(stored, text)
		if h.Drops != nil {
			after = h.Drops(after)
		}
		if !equality.Semantic.DeepEqual(after.Spec, stored.Spec) {
			after.Generation++
			after.ManagedFields = append(after.ManagedFields, metav1.ManagedFieldsEntry{Manager: o.FieldManager})
		}
		h.Patched = append(h.Patched, o.FieldManager)
		h.wrote(text, after)
		return after
	})
	if err == nil {
		after.DeepCopyInto(into)
	}
	return err
}

func (h *Hub) merged(stored *v1alpha1.FederatedHPA, patch []byte) *v1alpha1.FederatedHPA {
	before, err := json.Marshal(stored)
	if err != nil {
		h.T.Error(err)
	}
	text, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		h.T.Error(err)
	}
	after := &v1alpha1.FederatedHPA{}
	if err := json.Unmarshal(text, after); err != nil {
		h.T.Error(err)
	}
	return after
}

// Status writes statuses.
func (h *Hub) Status() client.SubResourceWriter { return statusWriter{hub: h} }

type statusWriter struct {
	client.SubResourceWriter
	hub *Hub
}

func (s statusWriter) Update(_ context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	h := s.hub
	h.Lock()
	defer h.Unlock()
	o := client.SubResourceUpdateOptions{}
	o.ApplyOptions(opts)
	if o.FieldManager == "" {
		h.T.Error("the status has no field manager")
	}
	into := object.(*v1alpha1.FederatedHPA)
	return h.update(into, into.ResourceVersion, h.FailStatus, func(stored *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA {
		after := stored.DeepCopy()
		after.Status = ThroughJSON(h.T, into.Status)
		if h.Prunes != nil {
			h.Prunes(&after.Status)
		}
		if !equality.Semantic.DeepEqual(after.Status, stored.Status) {
			after.ManagedFields = slices.DeleteFunc(after.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
			after.ManagedFields = append(after.ManagedFields, metav1.ManagedFieldsEntry{Manager: o.FieldManager, Subresource: "status",
				Time: &metav1.Time{Time: h.Clock.Now().Truncate(1e9)}})
		}
		h.StatusWrites++
		h.wrote(nil, after)
		return after
	})
}

func (h *Hub) wrote(patch []byte, after *v1alpha1.FederatedHPA) {
	if h.Wrote != nil {
		h.Wrote(patch, after)
	}
}

// update writes the object if nobody has written since that version.
func (h *Hub) update(object *v1alpha1.FederatedHPA, since string, fail func() error,
	change func(stored *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA) error {
	through, lost := h.reach()
	if !through {
		return lost
	}
	if err := Fault(fail); err != nil {
		return err
	}
	stored := h.Objects[client.ObjectKeyFromObject(object)]
	switch {
	case stored == nil || stored.UID != object.UID:
		return apierrors.NewNotFound(FederatedHPAs, object.Name)
	case stored.ResourceVersion != since:
		return apierrors.NewConflict(FederatedHPAs, object.Name, fmt.Errorf("it is at %s, not at %s", stored.ResourceVersion, since))
	}
	after := change(stored)
	if !equality.Semantic.DeepEqual(after, stored) {
		h.store(after)
	}
	object.ResourceVersion = after.ResourceVersion
	return lost
}

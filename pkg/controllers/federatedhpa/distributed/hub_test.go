// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// hub is an API server with one FederatedHPA and one workload, with what of one matters here: what is stored went through
// JSON; a write holds only if nobody wrote since; one that changes nothing is none; an object goes with its last finalizer.
type hub struct {
	client.Client // nil: whatever else is called is a panic
	*world

	version int
	object  *v1alpha1.FederatedHPA
	// shown is what the cache shows instead; nil: it shows what there is.
	shown        *v1alpha1.FederatedHPA
	workload     *unstructured.Unstructured
	failStatus   func() error // before a write of a status
	failPatch    func() error // before one of the finalizers
	failGet      func() error // before the workload is read
	statusWrites int
}

func newHub(w *world) *hub { return &hub{world: w} }

var federatedHPAs = schema.GroupResource{Group: v1alpha1.GroupName, Resource: "federatedhpas"}

// put stores the object as a person does.
func (h *hub) put(object *v1alpha1.FederatedHPA) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.store(federatedhpatest.ThroughJSON(h.t, object))
}

func (h *hub) store(object *v1alpha1.FederatedHPA) {
	h.version++
	object.ResourceVersion = strconv.Itoa(h.version)
	h.object = object
	if object.DeletionTimestamp != nil && len(object.Finalizers) == 0 {
		h.object = nil
	}
}

// remove deletes the object as a person does.
func (h *hub) remove() {
	h.mu.Lock()
	defer h.mu.Unlock()
	object := h.object.DeepCopy()
	object.DeletionTimestamp = &metav1.Time{Time: h.clock.Now()}
	h.store(federatedhpatest.ThroughJSON(h.t, object))
}

// cached is the object as the cache shows it; nil: it shows none.
func (h *hub) cached() *v1alpha1.FederatedHPA {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shown != nil {
		return h.shown.DeepCopy()
	}
	return h.object.DeepCopy()
}

// Get is of the API server itself.
func (h *hub) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.reach(); err != nil {
		return err
	}
	switch into := into.(type) {
	case *v1alpha1.FederatedHPA:
		if h.object == nil || key != web {
			return apierrors.NewNotFound(federatedHPAs, key.Name)
		}
		h.object.DeepCopyInto(into)
	case *unstructured.Unstructured:
		if h.failGet != nil {
			if err := h.failGet(); err != nil {
				return err
			}
		}
		if h.workload == nil || h.workload.GetName() != key.Name || h.workload.GetNamespace() != key.Namespace ||
			h.workload.GetKind() != into.GetKind() {
			return apierrors.NewNotFound(schema.GroupResource{Resource: into.GetKind()}, key.Name)
		}
		h.workload.DeepCopyInto(into)
	default:
		h.t.Errorf("%T is asked for", into)
	}
	return nil
}

func (h *hub) Patch(_ context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var said struct {
		Metadata struct {
			ResourceVersion string   `json:"resourceVersion"`
			Finalizers      []string `json:"finalizers"`
		} `json:"metadata"`
		Spec, Status json.RawMessage
	}
	if err := json.Unmarshal(data, &said); err != nil || said.Spec != nil || said.Status != nil || said.Metadata.ResourceVersion == "" {
		h.t.Errorf("patched with %s: %v", data, err)
	}
	o := client.PatchOptions{}
	o.ApplyOptions(opts)
	h.mu.Lock()
	defer h.mu.Unlock()
	into := object.(*v1alpha1.FederatedHPA)
	return h.update(into, said.Metadata.ResourceVersion, h.failPatch, func(after *v1alpha1.FederatedHPA) {
		after.Finalizers = said.Metadata.Finalizers
		h.wrote("hub", "hub finalizers %v", after.Finalizers)
	})
}

func (h *hub) Status() client.SubResourceWriter { return statusWriter{hub: h} }

type statusWriter struct {
	client.SubResourceWriter
	hub *hub
}

func (s statusWriter) Update(_ context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	o := client.SubResourceUpdateOptions{}
	o.ApplyOptions(opts)
	if o.FieldManager == "" {
		h.t.Error("the status has no field manager")
	}
	into := object.(*v1alpha1.FederatedHPA)
	return h.update(into, into.ResourceVersion, h.failStatus, func(after *v1alpha1.FederatedHPA) {
		after.Status = federatedhpatest.ThroughJSON(h.t, into.Status)
		h.statusWrites++
		h.wrote("hub", "hub status")
	})
}

// update writes the object if nobody has written since that version.
func (h *hub) update(object *v1alpha1.FederatedHPA, since string, fail func() error, change func(*v1alpha1.FederatedHPA)) error {
	through, lost := h.reach()
	if !through {
		return lost
	}
	if fail != nil {
		if err := fail(); err != nil {
			return err
		}
	}
	switch {
	case h.object == nil || h.object.UID != object.UID:
		return apierrors.NewNotFound(federatedHPAs, object.Name)
	case h.object.ResourceVersion != since:
		return apierrors.NewConflict(federatedHPAs, object.Name, fmt.Errorf("it is at %s, not at %s", h.object.ResourceVersion, since))
	}
	after := h.object.DeepCopy()
	change(after)
	if !equality.Semantic.DeepEqual(after, h.object) {
		h.store(after)
	}
	object.ResourceVersion = after.ResourceVersion
	return lost
}

var errRefused = errors.New("refused")

// template is the workload on the hub, as somebody applied it.
func template(labels map[string]string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"namespace": web.Namespace, "name": web.Name, "uid": "uid-on-hub", "resourceVersion": "7", "generation": int64(2),
			"annotations": map[string]any{
				"kubectl.kubernetes.io/last-applied-configuration": "{}", "deployment.kubernetes.io/revision": "3", "team": "shop",
			},
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Boss", "name": "boss", "uid": "1"}},
		},
		"spec":   map[string]any{"replicas": int64(7), "paused": true},
		"status": map[string]any{"replicas": int64(7)},
	}}
	u.SetLabels(labels)
	return u
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/scale"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// hub is an API server of a few kinds, with what of one matters here: what is stored went through JSON; a write holds
// only if nobody wrote since; one that changes nothing is none.
type hub struct {
	client.Client // nil: whatever else is called is a panic
	t             testing.TB
	clock         clock.PassiveClock

	mu        sync.Mutex
	version   int
	objects   map[client.ObjectKey]*v1alpha1.FederatedHPA
	former    map[client.ObjectKey]*v1alpha1.FederatedHPA
	stale     func() bool // the cache shows an object as it was a write ago, until it showed the new one
	hpas      []autoscalingv2.HorizontalPodAutoscaler
	bindings  map[client.ObjectKey]*placement.ResourceBinding
	noBinding error // what is said of the whole kind

	statusWrites int          // that changed something
	failStatus   func() error // before a write of a status
	failPatch    error        // of any other write
	patched      []string     // who wrote so
	prune        func(*v1alpha1.FederatedHPAStatus)
	drop         func(*v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA // what any other write leaves out
	workloads    map[client.ObjectKey]*fakeWorkload
	failGet      func() error // before a scale is read
	failSet      func() error // before one is written
	noTemplate   error        // of a workload itself
}

// workload is one that can be scaled.
type fakeWorkload struct {
	replicas, statusReplicas int32
	selector                 string
	version                  int
	writes                   []int32
	labels                   map[string]string
	setBy                    []metav1.ManagedFieldsEntry
}

func newHub(t testing.TB, clock clock.PassiveClock) *hub {
	return &hub{
		t: t, clock: clock,
		objects: map[client.ObjectKey]*v1alpha1.FederatedHPA{}, former: map[client.ObjectKey]*v1alpha1.FederatedHPA{},
		bindings: map[client.ObjectKey]*placement.ResourceBinding{}, workloads: map[client.ObjectKey]*fakeWorkload{},
	}
}

// put stores an object as a person does.
func (h *hub) put(object *v1alpha1.FederatedHPA) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.store(object.DeepCopy())
}

func (h *hub) store(object *v1alpha1.FederatedHPA) {
	key := client.ObjectKeyFromObject(object)
	h.version++
	object.ResourceVersion = strconv.Itoa(h.version)
	if before := h.objects[key]; before != nil {
		h.former[key] = before
	}
	h.objects[key] = object
}

func (h *hub) remove(key client.ObjectKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.objects, key)
	delete(h.former, key)
}

func (h *hub) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch into := into.(type) {
	case *v1alpha1.FederatedHPA:
		found := h.objects[key]
		if former := h.former[key]; former != nil && h.stale != nil && h.stale() {
			found = former
		} else {
			delete(h.former, key)
		}
		if found == nil {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "federatedhpas"}, key.Name)
		}
		found.DeepCopyInto(into)
	case *placement.ResourceBinding:
		found := h.bindings[key]
		switch {
		case h.noBinding != nil:
			return h.noBinding
		case found == nil:
			return apierrors.NewNotFound(schema.GroupResource{Resource: "resourcebindings"}, key.Name)
		}
		*into = *found.DeepCopyObject().(*placement.ResourceBinding)
	default:
		h.t.Errorf("%T is asked for", into)
	}
	return nil
}

func (h *hub) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := client.ListOptions{}
	asked.ApplyOptions(opts)
	wanted := func(object client.Object) bool {
		name, _ := asked.FieldSelector.RequiresExactMatch(index.ByName)
		return object.GetNamespace() == asked.Namespace && slices.Contains(index.Names(object), name)
	}
	switch into := list.(type) {
	case *autoscalingv2.HorizontalPodAutoscalerList:
		for _, hpa := range h.hpas {
			if wanted(&hpa) {
				into.Items = append(into.Items, hpa)
			}
		}
	case *v1alpha1.FederatedHPAList:
		for _, object := range h.objects {
			if wanted(object) {
				into.Items = append(into.Items, *object)
			}
		}
	}
	return nil
}

// Patch is a write of anything but the status.
func (h *hub) Patch(_ context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	text, err := patch.Data(object)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	wanted := object.(*v1alpha1.FederatedHPA)
	stored := h.objects[client.ObjectKeyFromObject(wanted)]
	switch {
	case stored == nil || stored.UID != wanted.UID:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "federatedhpas"}, wanted.Name)
	case h.failPatch != nil:
		return h.failPatch
	case !bytes.Contains(text, fmt.Appendf(nil, `"resourceVersion":%q`, stored.ResourceVersion)):
		return apierrors.NewConflict(schema.GroupResource{Resource: "federatedhpas"}, wanted.Name, errors.New("somebody wrote since"))
	}
	before, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	merged, err := jsonpatch.MergePatch(before, text)
	if err != nil {
		return err
	}
	after := &v1alpha1.FederatedHPA{}
	if err := json.Unmarshal(merged, after); err != nil {
		return err
	}
	if h.drop != nil {
		after = h.drop(after)
	}
	o := client.PatchOptions{}
	o.ApplyOptions(opts)
	if !equality.Semantic.DeepEqual(after.Spec, stored.Spec) {
		after.Generation++
		after.ManagedFields = append(after.ManagedFields, metav1.ManagedFieldsEntry{Manager: o.FieldManager})
	}
	h.patched = append(h.patched, o.FieldManager)
	h.store(after)
	after.DeepCopyInto(wanted)
	return nil
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
	if h.failStatus != nil {
		if err := h.failStatus(); err != nil {
			return err
		}
	}
	wanted := object.(*v1alpha1.FederatedHPA)
	stored := h.objects[client.ObjectKeyFromObject(wanted)]
	switch {
	case stored == nil || stored.UID != wanted.UID:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "federatedhpas"}, wanted.Name)
	case stored.ResourceVersion != wanted.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{Resource: "federatedhpas"}, wanted.Name, errors.New("somebody wrote since"))
	}
	after := stored.DeepCopy()
	after.Status = federatedhpatest.ThroughJSON(h.t, wanted.Status)
	if h.prune != nil {
		h.prune(&after.Status)
	}
	if equality.Semantic.DeepEqual(after.Status, stored.Status) {
		return nil
	}
	o := client.SubResourceUpdateOptions{}
	o.ApplyOptions(opts)
	h.statusWrites++
	after.ManagedFields = slices.DeleteFunc(after.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
	after.ManagedFields = append(after.ManagedFields, metav1.ManagedFieldsEntry{Manager: o.FieldManager, Subresource: "status",
		Time: &metav1.Time{Time: h.clock.Now().Truncate(1e9)}})
	h.store(after)
	wanted.ResourceVersion = after.ResourceVersion
	return nil
}

// scales is the scale subresource of the workloads on the hub.
type scales struct {
	*hub
	namespace string
}

func (s scales) Scales(namespace string) scale.ScaleInterface { return scales{s.hub, namespace} }

func (s scales) Get(_ context.Context, resource schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failGet != nil {
		if err := s.failGet(); err != nil {
			return nil, err
		}
	}
	w := s.workloads[client.ObjectKey{Namespace: s.namespace, Name: name}]
	if w == nil {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return w.scale(s.namespace, name), nil
}

func (s scales) Update(_ context.Context, resource schema.GroupResource, to *autoscalingv1.Scale,
	_ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failSet != nil {
		if err := s.failSet(); err != nil {
			return nil, err
		}
	}
	w := s.workloads[client.ObjectKey{Namespace: s.namespace, Name: to.Name}]
	if w == nil {
		return nil, apierrors.NewNotFound(resource, to.Name)
	}
	return to, w.set(to)
}

func (s scales) Patch(context.Context, schema.GroupVersionResource, string, types.PatchType, []byte,
	metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	return nil, errors.New("nobody does that")
}

func (w *fakeWorkload) scale(namespace, name string) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: strconv.Itoa(w.version)},
		Spec:       autoscalingv1.ScaleSpec{Replicas: w.replicas},
		Status:     autoscalingv1.ScaleStatus{Replicas: w.statusReplicas, Selector: w.selector},
	}
}

// set writes the scale if nobody wrote since it was read.
func (w *fakeWorkload) set(to *autoscalingv1.Scale) error {
	if to.ResourceVersion != strconv.Itoa(w.version) {
		return apierrors.NewConflict(schema.GroupResource{}, to.Name, fmt.Errorf("it is at %d", w.version))
	}
	w.version++
	w.replicas = to.Spec.Replicas
	w.writes = append(w.writes, w.replicas)
	return nil
}

// byHand is somebody else's write.
func (w *fakeWorkload) byHand(n int32) {
	w.version++
	w.replicas = n
}

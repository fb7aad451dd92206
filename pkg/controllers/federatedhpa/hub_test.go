// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"errors"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// hub is an API server of FederatedHPAs, of other autoscalers, bindings and workloads.
type hub struct {
	*federatedhpatest.Hub
	hpas       []autoscalingv2.HorizontalPodAutoscaler
	bindings   map[client.ObjectKey]*placement.ResourceBinding
	noBinding  error // what is said of the whole kind
	workloads  map[client.ObjectKey]*federatedhpatest.Workload
	failGet    func() error // before a scale is read
	failSet    func() error // before one is written
	noTemplate error        // of a workload itself
}

func newHub(w *federatedhpatest.World) *hub {
	h := &hub{Hub: federatedhpatest.NewHub(w), bindings: map[client.ObjectKey]*placement.ResourceBinding{},
		workloads: map[client.ObjectKey]*federatedhpatest.Workload{}}
	h.Others = h.read
	return h
}

// read returns a binding, or a workload itself: each requests a core for its Pods.
func (h *hub) read(key client.ObjectKey, into client.Object) error {
	switch into := into.(type) {
	case *placement.ResourceBinding:
		found := h.bindings[key]
		switch {
		case h.noBinding != nil:
			return h.noBinding
		case found == nil:
			return apierrors.NewNotFound(schema.GroupResource{Resource: "resourcebindings"}, key.Name)
		}
		*into = *found.DeepCopyObject().(*placement.ResourceBinding)
	case *unstructured.Unstructured:
		found := h.workloads[key]
		switch {
		case h.noTemplate != nil:
			return h.noTemplate
		case found == nil:
			return apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, key.Name)
		}
		into.SetLabels(found.Labels)
		into.SetManagedFields(found.SetBy)
		into.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "resources": map[string]any{"requests": map[string]any{"cpu": "1"}}}},
		}}}
	default:
		h.T.Errorf("%T is asked for", into)
	}
	return nil
}

func (h *hub) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	h.Lock()
	defer h.Unlock()
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
		for _, object := range h.Objects {
			if wanted(object) {
				into.Items = append(into.Items, *object)
			}
		}
	}
	return nil
}

// scales is the scale subresource of the workloads on the hub.
type scales struct {
	*hub
	namespace string
}

func (s scales) Scales(namespace string) scale.ScaleInterface { return scales{s.hub, namespace} }

func (s scales) Get(_ context.Context, resource schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	s.Lock()
	defer s.Unlock()
	if err := federatedhpatest.Fault(s.failGet); err != nil {
		return nil, err
	}
	w := s.workloads[client.ObjectKey{Namespace: s.namespace, Name: name}]
	if w == nil {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return w.Scale(s.namespace, name), nil
}

func (s scales) Update(_ context.Context, resource schema.GroupResource, to *autoscalingv1.Scale,
	_ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	s.Lock()
	defer s.Unlock()
	if err := federatedhpatest.Fault(s.failSet); err != nil {
		return nil, err
	}
	w := s.workloads[client.ObjectKey{Namespace: s.namespace, Name: to.Name}]
	if w == nil {
		return nil, apierrors.NewNotFound(resource, to.Name)
	}
	return to, w.Set(to)
}

func (s scales) Patch(context.Context, schema.GroupVersionResource, string, types.PatchType, []byte,
	metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	return nil, errors.New("nobody does that")
}

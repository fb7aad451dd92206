// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// hub is an API server with one FederatedHPA and one workload.
type hub struct {
	*federatedhpatest.Hub
	workload *unstructured.Unstructured
	failGet  func() error // before the workload is read
}

func newHub(w *world) *hub {
	h := &hub{Hub: federatedhpatest.NewHub(w.World)}
	h.Others, h.Reach = h.read, w.reach
	h.Wrote = func(patch []byte, after *v1alpha1.FederatedHPA) {
		if patch == nil {
			w.wrote("hub", "hub status")
			return
		}
		var said map[string]any
		if err := json.Unmarshal(patch, &said); err != nil || said["spec"] != nil || said["status"] != nil {
			w.T.Errorf("patched with %s: %v", patch, err)
		}
		w.wrote("hub", "hub finalizers %v", after.Finalizers)
	}
	return h
}

// read returns the workload.
func (h *hub) read(key client.ObjectKey, into client.Object) error {
	if err := federatedhpatest.Fault(h.failGet); err != nil {
		return err
	}
	asked := into.(*unstructured.Unstructured)
	if h.workload == nil || h.workload.GetName() != key.Name || h.workload.GetNamespace() != key.Namespace ||
		h.workload.GetKind() != asked.GetKind() {
		return apierrors.NewNotFound(schema.GroupResource{Resource: asked.GetKind()}, key.Name)
	}
	h.workload.DeepCopyInto(asked)
	return nil
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

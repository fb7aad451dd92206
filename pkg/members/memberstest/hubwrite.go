// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// write makes a ConfigMap, or merges a patch into one. As on any API server a patch may name the version that it is for.
func (h *Hub) write(w http.ResponseWriter, req *http.Request) {
	var sent map[string]any
	if err := json.NewDecoder(req.Body).Decode(&sent); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	u := &unstructured.Unstructured{Object: sent}
	name := strings.TrimPrefix(req.URL.Path, ConfigMapsPath+"/")
	stored := h.Get(ConfigMapsPath, name)
	switch {
	case req.Method == http.MethodPost:
		name = u.GetName()
		if h.Get(ConfigMapsPath, name) != nil {
			refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "it exists")
			return
		}
		u.SetKind("ConfigMap")
		u.SetAPIVersion("v1")
	case req.Header.Get("Content-Type") != string(types.MergePatchType):
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	case stored == nil:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "there is none")
		return
	case u.GetResourceVersion() != stored.GetResourceVersion():
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict, "it was changed")
		return
	default:
		data, _, _ := unstructured.NestedMap(sent, "data")
		u = stored
		merge(u, data)
	}
	h.change(ConfigMapsPath, name, u)
	Answer(w, u)
}

func merge(u *unstructured.Unstructured, data map[string]any) {
	now, _, _ := unstructured.NestedMap(u.Object, "data")
	if now == nil {
		now = map[string]any{}
	}
	for key, value := range data {
		if value == nil {
			delete(now, key)
		} else {
			now[key] = value
		}
	}
	u.Object["data"] = now
}

// Get returns a copy of what is stored; nil: nothing is.
func (h *Hub) Get(path, name string) *unstructured.Unstructured {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := h.objects[path][name]; u != nil {
		return u.DeepCopy()
	}
	return nil
}

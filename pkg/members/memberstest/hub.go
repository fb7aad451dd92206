// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Paths of what a Hub serves.
const (
	identityPath       = "/api/v1/namespaces/kube-system"
	KarmadaPath        = "/apis/cluster.karmada.io/v1alpha1"
	ClustersPath       = KarmadaPath + "/clusters"
	FleetSecretsPath   = "/api/v1/namespaces/fleet/secrets"
	KarmadaSecretsPath = "/api/v1/namespaces/karmada-cluster/secrets"
	ConfigMapsPath     = "/api/v1/namespaces/fleet/configmaps"
)

// Hub is an API server with Secrets, ConfigMaps, Karmada Clusters and the namespace
// kube-system. Unlike client-go's fake it keeps to selectors in watches.
type Hub struct {
	*httptest.Server

	mu sync.Mutex // of all that follows

	UID       string
	Karmada   bool            // it serves Clusters
	Forbidden map[string]bool // by path
	Frozen    chan struct{}   // its identity is told when closed, unless nil
	Script    []string        // the next answers to discovery: served, absent, error

	revision int
	objects  map[string]map[string]*unstructured.Unstructured // by path, then name
	watchers map[*hubWatcher]bool
	asked    []string // URLs with queries, of Secrets only
}

// NewHub is one that serves until the test ends.
func NewHub(t testing.TB) *Hub {
	h := &Hub{
		UID: "hub-uid", Forbidden: map[string]bool{},
		objects:  map[string]map[string]*unstructured.Unstructured{},
		watchers: map[*hubWatcher]bool{},
	}
	h.Server = httptest.NewUnstartedServer(h)
	h.EnableHTTP2 = true
	h.StartTLS()
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

// Clients lead to it.
func (h *Hub) Clients(t testing.TB) (kubernetes.Interface, dynamic.Interface) {
	t.Helper()
	config := &rest.Config{Host: h.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	config.ContentType = "application/json"
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return typed, untyped
}

// Set changes how it behaves.
func (h *Hub) Set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// Put stores an object and tells those who watch.
func (h *Hub) Put(t testing.TB, object runtime.Object) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatalf("converting: %v", err)
	}
	u := &unstructured.Unstructured{Object: content}
	h.change(pathOf(u), u.GetName(), u)
}

// Remove deletes one.
func (h *Hub) Remove(path, name string) { h.change(path, name, nil) }

func pathOf(u *unstructured.Unstructured) string {
	switch u.GetKind() {
	case "Cluster":
		return ClustersPath
	case "ConfigMap":
		return "/api/v1/namespaces/" + u.GetNamespace() + "/configmaps"
	}
	return "/api/v1/namespaces/" + u.GetNamespace() + "/secrets"
}

func (h *Hub) change(path, name string, now *unstructured.Unstructured) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.objects[path] == nil {
		h.objects[path] = map[string]*unstructured.Unstructured{}
	}
	before := h.objects[path][name]
	h.revision++
	if now == nil {
		delete(h.objects[path], name)
	} else {
		now.SetResourceVersion(strconv.Itoa(h.revision))
		h.objects[path][name] = now
	}
	for w := range h.watchers {
		if w.path == path {
			w.tell(before, now)
		}
	}
}

// ServeHTTP implements http.Handler.
func (h *Hub) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h.mu.Lock()
	path, karmada, forbidden, frozen := req.URL.Path, h.Karmada, h.Forbidden[req.URL.Path], h.Frozen
	if path == KarmadaPath && len(h.Script) > 0 {
		karmada, forbidden = h.Script[0] == "served", h.Script[0] == "error"
		h.Script = h.Script[1:]
	}
	if strings.HasSuffix(path, "/secrets") {
		h.asked = append(h.asked, req.URL.String())
	}
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case forbidden:
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
	case path == identityPath:
		thawed(req.Context(), frozen)
		Answer(w, KubeSystem(h.UID))
	case path == KarmadaPath && karmada:
		Answer(w, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "cluster.karmada.io/v1alpha1",
			APIResources: []metav1.APIResource{{Name: "clusters", Kind: "Cluster"}},
		})
	case strings.HasPrefix(path, ConfigMapsPath) && req.Method != http.MethodGet:
		h.write(w, req)
	case strings.HasSuffix(path, "/secrets") || path == ConfigMapsPath || path == ClustersPath && karmada:
		h.collection(w, req)
	default:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no such path")
	}
}

// thawed waits until what is frozen thaws, or ctx ends; nil is not frozen.
func thawed(ctx context.Context, frozen <-chan struct{}) {
	if frozen == nil {
		return
	}
	select {
	case <-frozen:
	case <-ctx.Done():
	}
}

// KubeSystem is the namespace by which a cluster is known.
func KubeSystem(uid string) map[string]any {
	return map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": map[string]any{"name": "kube-system", "uid": uid}}
}

// Answer writes an object.
func Answer(w http.ResponseWriter, object any) {
	if err := json.NewEncoder(w).Encode(object); err != nil {
		panic(err) // no object of a test can fail so
	}
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.WriteHeader(code)
	Answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: reason, Code: int32(code), Message: message})
}

// SecretQueries are the URLs of all questions about Secrets so far.
func (h *Hub) SecretQueries() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.asked...)
}

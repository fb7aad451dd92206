// SPDX-License-Identifier: Apache-2.0

package member

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

const (
	discoveryPath = "/apis/cluster.karmada.io/v1alpha1"
	clustersPath  = discoveryPath + "/clusters"
)

// fakeHub is an API server with Secrets, Karmada Clusters and the namespace
// kube-system. Unlike client-go's fake it keeps to selectors in watches.
type fakeHub struct {
	*httptest.Server

	mu        sync.Mutex
	revision  int
	uid       string
	karmada   bool
	forbidden map[string]bool                                  // by path
	frozen    chan struct{}                                    // its identity is told when closed, unless nil
	script    []string                                         // the next answers to discovery: served, absent, error
	objects   map[string]map[string]*unstructured.Unstructured // by path, then name
	watchers  map[*hubWatcher]bool
	asked     []string // URLs with queries, of Secrets only
}

type hubWatcher struct {
	path   string
	match  func(*unstructured.Unstructured) bool
	events chan watch.Event
}

func newFakeHub(t testing.TB) *fakeHub {
	h := &fakeHub{
		uid: "hub-uid", forbidden: map[string]bool{},
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

func (h *fakeHub) options(t testing.TB) Options {
	t.Helper()
	config := &rest.Config{Host: h.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return Options{Hub: typed, HubDynamic: untyped, Registrations: registration.Options{Namespace: "fleet"}}
}

func (h *fakeHub) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// put stores an object and tells those who watch.
func (h *fakeHub) put(t testing.TB, object runtime.Object) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatalf("converting: %v", err)
	}
	u := &unstructured.Unstructured{Object: content}
	h.change(pathOf(u), u.GetName(), u)
}

func (h *fakeHub) remove(path, name string) { h.change(path, name, nil) }

func pathOf(u *unstructured.Unstructured) string {
	if u.GetKind() == "Cluster" {
		return clustersPath
	}
	return "/api/v1/namespaces/" + u.GetNamespace() + "/secrets"
}

func (h *fakeHub) change(path, name string, now *unstructured.Unstructured) {
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

func (w *hubWatcher) tell(before, now *unstructured.Unstructured) {
	had, has := before != nil && w.match(before), now != nil && w.match(now)
	switch {
	case had && has:
		w.events <- watch.Event{Type: watch.Modified, Object: now}
	case has:
		w.events <- watch.Event{Type: watch.Added, Object: now}
	case had:
		w.events <- watch.Event{Type: watch.Deleted, Object: before}
	}
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h.mu.Lock()
	path, karmada, forbidden, frozen := req.URL.Path, h.karmada, h.forbidden[req.URL.Path], h.frozen
	if path == discoveryPath && len(h.script) > 0 {
		karmada, forbidden = h.script[0] == "served", h.script[0] == "error"
		h.script = h.script[1:]
	}
	if strings.HasSuffix(path, "/secrets") {
		h.asked = append(h.asked, req.URL.String())
	}
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case forbidden:
		w.WriteHeader(http.StatusForbidden)
		answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
			Reason: metav1.StatusReasonForbidden, Code: 403, Message: "no"})
	case path == identityPath && frozen != nil:
		select {
		case <-frozen:
		case <-req.Context().Done():
		}
		answer(w, namespaceObject(h.uid))
	case path == identityPath:
		answer(w, namespaceObject(h.uid))
	case path == discoveryPath && karmada:
		answer(w, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "cluster.karmada.io/v1alpha1",
			APIResources: []metav1.APIResource{{Name: "clusters", Kind: "Cluster"}},
		})
	case strings.HasSuffix(path, "/secrets") || path == clustersPath && karmada:
		h.collection(w, req)
	default:
		w.WriteHeader(http.StatusNotFound)
		answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
			Reason: metav1.StatusReasonNotFound, Code: 404, Message: "no such path"})
	}
}

func namespaceObject(uid string) map[string]any {
	return map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": map[string]any{"name": "kube-system", "uid": uid}}
}

func answer(w http.ResponseWriter, object any) {
	if err := json.NewEncoder(w).Encode(object); err != nil {
		panic(err)
	}
}

func (h *fakeHub) collection(w http.ResponseWriter, req *http.Request) {
	match, err := matcher(req)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if req.URL.Query().Get("watch") == "" {
		h.list(w, req.URL.Path, match)
		return
	}
	h.watch(w, req, match)
}

func matcher(req *http.Request) (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(req.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(req.URL.Query().Get("fieldSelector"))
	if err != nil {
		return nil, err
	}
	return func(u *unstructured.Unstructured) bool {
		return byLabel.Matches(labels.Set(u.GetLabels())) && byField.Matches(fields.Set{"metadata.name": u.GetName()})
	}, nil
}

func (h *fakeHub) list(w http.ResponseWriter, path string, match func(*unstructured.Unstructured) bool) {
	h.mu.Lock()
	items := h.matching(path, match)
	revision := strconv.Itoa(h.revision)
	h.mu.Unlock()
	kind, version := "SecretList", "v1"
	if path == clustersPath {
		kind, version = "ClusterList", "cluster.karmada.io/v1alpha1"
	}
	answer(w, map[string]any{"kind": kind, "apiVersion": version, "metadata": map[string]any{"resourceVersion": revision}, "items": items})
}

func (h *fakeHub) matching(path string, match func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	items := []*unstructured.Unstructured{}
	for _, name := range slices.Sorted(maps.Keys(h.objects[path])) {
		if u := h.objects[path][name]; match(u) {
			items = append(items, u)
		}
	}
	return items
}

func (h *fakeHub) watch(w http.ResponseWriter, req *http.Request, match func(*unstructured.Unstructured) bool) {
	watcher := &hubWatcher{path: req.URL.Path, match: match, events: make(chan watch.Event, 1000)}
	h.mu.Lock()
	var first []watch.Event
	if req.URL.Query().Get("sendInitialEvents") == "true" {
		for _, u := range h.matching(req.URL.Path, match) {
			first = append(first, watch.Event{Type: watch.Added, Object: u})
		}
		first = append(first, h.bookmark(req.URL.Path))
	}
	h.watchers[watcher] = true
	h.mu.Unlock()
	defer h.set(func() { delete(h.watchers, watcher) })
	for _, e := range first {
		send(w, e)
	}
	for {
		select {
		case <-req.Context().Done():
			return
		case e := <-watcher.events:
			send(w, e)
		}
	}
}

func (h *fakeHub) bookmark(path string) watch.Event {
	u := &unstructured.Unstructured{Object: map[string]any{"kind": "Secret", "apiVersion": "v1"}}
	if path == clustersPath {
		u.Object = map[string]any{"kind": "Cluster", "apiVersion": "cluster.karmada.io/v1alpha1"}
	}
	u.SetResourceVersion(strconv.Itoa(h.revision))
	u.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return watch.Event{Type: watch.Bookmark, Object: u}
}

func send(w http.ResponseWriter, e watch.Event) {
	object, err := json.Marshal(e.Object)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", e.Type, object)
	w.(http.Flusher).Flush()
}

// secretQueries are the queries of all questions about Secrets so far.
func (h *fakeHub) secretQueries() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

type hubWatcher struct {
	path   string
	match  func(*unstructured.Unstructured) bool
	events chan watch.Event
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

func (h *Hub) collection(w http.ResponseWriter, req *http.Request) {
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

func (h *Hub) list(w http.ResponseWriter, path string, match func(*unstructured.Unstructured) bool) {
	h.mu.Lock()
	items := h.matching(path, match)
	revision := strconv.Itoa(h.revision)
	h.mu.Unlock()
	kind, version := kindAt(path)
	Answer(w, map[string]any{
		"kind": kind + "List", "apiVersion": version, "metadata": map[string]any{"resourceVersion": revision}, "items": items,
	})
}

// kindAt is the kind of what is stored at a path.
func kindAt(path string) (kind, version string) {
	switch {
	case path == ClustersPath:
		return "Cluster", "cluster.karmada.io/v1alpha1"
	case strings.HasSuffix(path, "/configmaps"):
		return "ConfigMap", "v1"
	default:
		return "Secret", "v1"
	}
}

func (h *Hub) matching(path string, match func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	items := []*unstructured.Unstructured{}
	for _, name := range slices.Sorted(maps.Keys(h.objects[path])) {
		if u := h.objects[path][name]; match(u) {
			items = append(items, u)
		}
	}
	return items
}

func (h *Hub) watch(w http.ResponseWriter, req *http.Request, match func(*unstructured.Unstructured) bool) {
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
	defer h.Set(func() { delete(h.watchers, watcher) })
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

func (h *Hub) bookmark(path string) watch.Event {
	kind, version := kindAt(path)
	u := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "apiVersion": version}}
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

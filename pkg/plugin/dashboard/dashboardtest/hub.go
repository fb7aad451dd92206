// SPDX-License-Identifier: Apache-2.0

// Package dashboardtest is a hub for the tests of the dashboard: it lists and watches what it is given, without Kubernetes.
package dashboardtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	historyv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

// Hub is an API server that holds objects. The zero value holds none.
type Hub struct {
	mu      sync.Mutex
	held    []held
	log     []event
	refused map[string]int
	records map[string][]*recording.Record
	asked   []string
	changed chan struct{}
}

type held struct {
	resource schema.GroupVersionResource
	object   *unstructured.Unstructured
}

type event struct {
	held
	kind watch.EventType
}

// Put holds an object of a resource, in place of one of the same name.
func (h *Hub) Put(of schema.GroupVersionResource, object runtime.Object) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic("an object that cannot be stored: " + err.Error())
	}
	h.PutFields(of, fields)
}

// PutFields is Put of an object that no type has.
func (h *Hub) PutFields(of schema.GroupVersionResource, fields map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := &unstructured.Unstructured{Object: fields}
	if u.GetKind() == "" {
		u.SetGroupVersionKind(of.GroupVersion().WithKind("Unnamed"))
	}
	u.SetResourceVersion(strconv.Itoa(len(h.log) + 1))
	kind := watch.Added
	if at := h.find(of, u.GetNamespace(), u.GetName()); at >= 0 {
		kind = watch.Modified
		h.held[at].object = u
	} else {
		h.held = append(h.held, held{of, u})
	}
	h.tell(event{held{of, u}, kind})
}

// Delete holds an object no more.
func (h *Hub) Delete(of schema.GroupVersionResource, namespace, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.find(of, namespace, name)
	if at < 0 {
		return
	}
	u := h.held[at].object.DeepCopy()
	u.SetResourceVersion(strconv.Itoa(len(h.log) + 1))
	h.held = slices.Delete(h.held, at, at+1)
	h.tell(event{held{of, u}, watch.Deleted})
}

// Refuse answers questions at a path with a code of HTTP; 0: with what there is.
func (h *Hub) Refuse(path string, code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[string]int{}
	}
	h.refused[path] = code
}

// PutRecord has these decisions be recorded of an autoscaler, and no others: they are all of its kind.
func (h *Hub) PutRecord(namespace, name string, records ...*recording.Record) {
	resource := historyv1alpha1.FederatedHPAs
	if len(records) > 0 && records[0].Sizes != nil {
		resource = historyv1alpha1.MultidimPodAutoscalers
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.records == nil {
		h.records = map[string][]*recording.Record{}
	}
	h.records[recordAt(namespace, resource, name)] = records
}

// Asked are from when on records were asked for, in the order of the questions; empty: for all.
func (h *Hub) Asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// recordAt is the path of a record.
func recordAt(namespace, resource, name string) string {
	return "/apis/" + historyv1alpha1.SchemeGroupVersion.String() + "/namespaces/" + namespace + "/" + resource + "/" + name + "/decisions"
}

// decisions answers with a record, as history.fleetscale.io does.
func (h *Hub) decisions(w http.ResponseWriter, path, since string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	records, found := h.records[path]
	if !found {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(refusal(http.StatusNotFound, "the record"))
		return
	}
	h.asked = append(h.asked, since)
	from, _ := time.Parse(time.RFC3339, since) // without one it is of all
	records = slices.DeleteFunc(slices.Clone(records), func(r *recording.Record) bool { return r.Question.Now.Before(from) })
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(recordingtest.Stream(records...))
}

func (h *Hub) find(of schema.GroupVersionResource, namespace, name string) int {
	return slices.IndexFunc(h.held, func(one held) bool {
		return one.resource == of && one.object.GetNamespace() == namespace && one.object.GetName() == name
	})
}

func (h *Hub) tell(e event) {
	h.log = append(h.log, e)
	close(h.news())
	h.changed = nil
}

// news is closed at the next change.
func (h *Hub) news() chan struct{} {
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// question is what a path asks for.
type question struct {
	resource  schema.GroupVersionResource
	namespace string
}

func asked(path string) (q question) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		parts = append([]string{"apis", ""}, parts[1:]...)
	}
	if len(parts) == 6 && parts[3] == "namespaces" {
		q.namespace = parts[4]
		parts = append(parts[:3], parts[5])
	}
	if len(parts) == 4 {
		q.resource = schema.GroupVersionResource{Group: parts[1], Version: parts[2], Resource: parts[3]}
	}
	return q
}

func (q question) has(one held) bool {
	return one.resource == q.resource && (q.namespace == "" || q.namespace == one.object.GetNamespace())
}

func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	h.mu.Lock()
	code := h.refused[r.URL.Path]
	h.mu.Unlock()
	q := asked(r.URL.Path)
	switch {
	case code != 0:
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(refusal(code, r.URL.Path))
	case strings.HasSuffix(r.URL.Path, "/decisions"):
		h.decisions(w, r.URL.Path, r.URL.Query().Get("since"))
	case r.URL.Query().Get("watch") == "true":
		h.watch(w, r, q)
	default:
		h.list(w, r, q)
	}
}

func refusal(code int, path string) metav1.Status {
	reason := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
		http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
	}[code]
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code),
		Message: "you may not read " + path,
	}
}

func (h *Hub) list(w http.ResponseWriter, r *http.Request, q question) {
	from, _ := strconv.Atoi(r.URL.Query().Get("continue")) // the first page has none
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil {
		limit = 1 << 30
	}
	var named string
	for _, part := range strings.Split(r.URL.Query().Get("fieldSelector"), ",") {
		if name, is := strings.CutPrefix(part, "involvedObject.name="); is {
			named = name
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	items, at, next := []any{}, 0, ""
	for _, one := range h.held {
		if !q.has(one) {
			continue
		}
		if involved, _, _ := unstructured.NestedString(one.object.Object, "involvedObject", "name"); named != "" && involved != named {
			continue
		}
		if at++; at <= from {
			continue
		}
		if len(items) == limit {
			next = strconv.Itoa(at - 1)
			break
		}
		items = append(items, one.object.Object)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": q.resource.GroupVersion().String(), "kind": "List", "items": items,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(len(h.log)), "continue": next},
	})
}

func (h *Hub) watch(w http.ResponseWriter, r *http.Request, q question) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	_ = http.NewResponseController(w).Flush()
	for {
		h.mu.Lock()
		news := slices.Clone(h.log[min(from, len(h.log)):])
		changed := h.news()
		h.mu.Unlock()
		for _, e := range news {
			from++
			if q.has(e.held) {
				_ = json.NewEncoder(w).Encode(map[string]any{"type": e.kind, "object": e.object.Object})
			}
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

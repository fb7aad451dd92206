// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const karmadaVersion = "cluster.karmada.io/v1alpha1"

// karmada serves the Clusters of a Karmada control plane, as far as our programs ask.
type karmada struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	log     []map[string]any // events of a watch; the revision is their number
	changed chan struct{}
}

func newKarmada() *karmada {
	return &karmada{objects: map[string]map[string]any{}, changed: make(chan struct{})}
}

func (k *karmada) put(name string, spec map[string]any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects[name] = map[string]any{"apiVersion": karmadaVersion, "kind": "Cluster", "spec": spec,
		"metadata": map[string]any{"name": name, "uid": "uid-of-" + name, "resourceVersion": strconv.Itoa(len(k.log) + 1)}}
	k.tell("ADDED", name)
}

func (k *karmada) remove(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tell("DELETED", name)
	delete(k.objects, name)
}

// tell notes what happened. The lock is held.
func (k *karmada) tell(what, name string) {
	k.log = append(k.log, map[string]any{"type": what, "object": k.objects[name]})
	close(k.changed)
	k.changed = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (k *karmada) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/apis/"+karmadaVersion:
		_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: karmadaVersion,
			APIResources: []metav1.APIResource{{Name: "clusters", Kind: "Cluster", Verbs: metav1.Verbs{"get", "list", "watch"}}},
		})
	case path != "/apis/"+karmadaVersion+"/clusters" || query.Get("sendInitialEvents") == "true":
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		k.watch(w, r)
	default:
		k.list(w)
	}
}

func (k *karmada) list(w http.ResponseWriter) {
	k.mu.Lock()
	defer k.mu.Unlock()
	items := []any{}
	for _, o := range k.objects {
		items = append(items, o)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": karmadaVersion, "kind": "ClusterList", "items": items,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(len(k.log))}})
}

func (k *karmada) watch(w http.ResponseWriter, r *http.Request) {
	told, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	flush := http.NewResponseController(w)
	for {
		k.mu.Lock()
		some, changed := k.log[min(told, len(k.log)):], k.changed
		told = len(k.log)
		k.mu.Unlock()
		for _, event := range some {
			_ = json.NewEncoder(w).Encode(event)
		}
		_ = flush.Flush()
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// objects are what a hub holds, by the paths of its API: it gets and lists them, and merges patches into them. A patch with
// another resourceVersion is a conflict.
type objects struct {
	mu      sync.Mutex
	held    map[string]map[string]any
	warning string
	patches int
}

// hold adds an object, as YAML.
func (o *objects) hold(t *testing.T, at, object string) {
	t.Helper()
	var held map[string]any
	if err := yaml.Unmarshal([]byte(object), &held); err != nil {
		t.Fatal(err)
	}
	meta := held["metadata"].(map[string]any)
	meta["name"], meta["resourceVersion"] = path.Base(at), "1"
	if parts := strings.Split(at, "/namespaces/"); len(parts) == 2 {
		meta["namespace"], _, _ = strings.Cut(parts[1], "/")
	}
	if o.held == nil {
		o.held = map[string]map[string]any{}
	}
	o.held[at] = held
}

// at is the field of an object.
func (o *objects) at(object string, fields ...string) any {
	o.mu.Lock()
	defer o.mu.Unlock()
	var value any = o.held[object]
	for _, field := range fields {
		below, _ := value.(map[string]any)
		value = below[field]
	}
	return value
}

// serve returns the path of a kubeconfig for the hub.
func (o *objects) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", Namespace: "shop"}
	config.CurrentContext = "hub"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if o.warning != "" {
		w.Header().Set("Warning", `299 fleetscale/partial "`+o.warning+`"`)
	}
	held, found := o.held[r.URL.Path]
	switch {
	case !found && o.collection(r.URL.Path):
		o.list(w, r.URL.Path)
	case !found:
		answer(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case r.Method == http.MethodPatch:
		patch, err := io.ReadAll(r.Body)
		before, _ := json.Marshal(held)
		after, err2 := jsonpatch.MergePatch(before, patch)
		var next, asked map[string]any
		if err != nil || err2 != nil || json.Unmarshal(after, &next) != nil || json.Unmarshal(patch, &asked) != nil {
			answer(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
			return
		}
		if next["metadata"].(map[string]any)["resourceVersion"] != held["metadata"].(map[string]any)["resourceVersion"] {
			answer(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
		o.patches++
		if r.URL.Query().Get("dryRun") != "All" {
			next["metadata"].(map[string]any)["resourceVersion"] = "2"
			o.held[r.URL.Path] = next
		}
		_ = json.NewEncoder(w).Encode(next)
	default:
		_ = json.NewEncoder(w).Encode(held)
	}
}

// collection reports whether something is held below a path.
func (o *objects) collection(at string) bool {
	for held := range o.held {
		if path.Dir(held) == at || in(held, at) {
			return true
		}
	}
	return false
}

// in reports whether an object is one of a collection over all namespaces.
func in(object, collection string) bool {
	group, after, found := strings.Cut(object, "/namespaces/")
	return found && collection == group+"/"+path.Base(path.Dir("/"+after))
}

func (o *objects) list(w http.ResponseWriter, at string) {
	items := []any{}
	kind, version := "Unknown", "v1"
	for _, held := range slices.Sorted(maps.Keys(o.held)) {
		if path.Dir(held) == at || in(held, at) {
			items = append(items, o.held[held])
			kind, version = o.held[held]["kind"].(string), o.held[held]["apiVersion"].(string)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": version, "kind": kind + "List", "metadata": map[string]any{}, "items": items})
}

func answer(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code),
		Message: string(reason),
	})
}

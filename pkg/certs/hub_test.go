// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// fakeHub keeps objects by path, and refuses to write what was read too early.
type fakeHub struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	writes  int
}

const (
	secretPath     = "/api/v1/namespaces/fleetscale-system/secrets/webhook-certs"
	mutatingPath   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/fleetscale"
	validatingPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/fleetscale"
	ourAPIPath     = "/apis/apiregistration.k8s.io/v1/apiservices/v1.metrics.k8s.io"
	theirAPIPath   = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io"
)

const manifests = `
` + secretPath + `: {kind: Secret, apiVersion: v1}
` + mutatingPath + `:
  kind: MutatingWebhookConfiguration
  apiVersion: admissionregistration.k8s.io/v1
  webhooks:
  - {name: a, clientConfig: {service: {name: webhook}}, fieldOfALaterVersion: {kept: true}}
  - {name: b, clientConfig: {url: "https://127.0.0.1"}}
` + validatingPath + `:
  kind: ValidatingWebhookConfiguration
  apiVersion: admissionregistration.k8s.io/v1
  webhooks: [{name: a, clientConfig: {service: {name: webhook}}}]
` + ourAPIPath + `:
  kind: APIService
  apiVersion: apiregistration.k8s.io/v1
  spec: {service: {namespace: fleetscale-system, name: webhook}, insecureSkipTLSVerify: true}
` + theirAPIPath + `:
  kind: APIService
  apiVersion: apiregistration.k8s.io/v1
  spec: {service: {namespace: fleetscale-system, name: other}, insecureSkipTLSVerify: true}
`

func newHub(t *testing.T) *fakeHub {
	t.Helper()
	h := &fakeHub{objects: map[string]map[string]any{}}
	if err := yaml.Unmarshal([]byte(manifests), &h.objects); err != nil {
		t.Fatal(err)
	}
	for p, object := range h.objects {
		object["metadata"] = map[string]any{"name": path.Base(p), "resourceVersion": "1"}
		if p == secretPath {
			object["metadata"].(map[string]any)["namespace"] = "fleetscale-system"
		}
	}
	return h
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	stored, sent := h.objects[r.URL.Path], map[string]any{}
	if stored == nil {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	if r.Method != http.MethodPut {
		_ = json.NewEncoder(w).Encode(stored)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	if versionOf(sent) != versionOf(stored) {
		refuse(w, http.StatusConflict, "Conflict")
		return
	}
	h.writes++
	sent["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(h.writes + 1)
	h.objects[r.URL.Path] = sent
	_ = json.NewEncoder(w).Encode(sent)
}

func versionOf(object map[string]any) any {
	return object["metadata"].(map[string]any)["resourceVersion"]
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": "the hub says " + reason,
	})
}

// object returns what the hub has, in a form that the caller may change.
func (h *fakeHub) object(path string) map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return runtime.DeepCopyJSON(h.objects[path])
}

// change has somebody write an object.
func (h *fakeHub) change(path string, f func(object map[string]any)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := runtime.DeepCopyJSON(h.objects[path])
	f(changed)
	h.writes++
	changed["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(h.writes + 1)
	h.objects[path] = changed
}

func (h *fakeHub) written() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.writes
}

// way is how one replica reaches the hub: before is called first, and may
// refuse with a code other than 0.
type way struct {
	hub    *fakeHub
	before func(*http.Request) (code int)
}

func (w way) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	if code := w.before(r); code != 0 {
		recorder.Header().Set("Content-Type", "application/json")
		refuse(recorder, code, "Forbidden")
	} else {
		w.hub.ServeHTTP(recorder, r)
	}
	response := recorder.Result()
	response.Request = r
	return response, nil
}

func freely(*http.Request) int { return 0 }

// replica is a Keeper of its own, with times as short as the tests need.
func replica(t *testing.T, hub *fakeHub, before func(*http.Request) int) *Keeper {
	t.Helper()
	config := &rest.Config{Host: "http://hub", Transport: way{hub, before}, QPS: -1}
	config.ContentType = runtime.ContentTypeJSON
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Core: core, Dynamic: dyn,
		Service: types.NamespacedName{Namespace: "fleetscale-system", Name: "webhook"},
		Targets: []Target{
			MutatingWebhooks("fleetscale"), ValidatingWebhooks("fleetscale"), MutatingWebhooks("not-there"),
			APIService("v1.metrics.k8s.io"), APIService("v1beta1.metrics.k8s.io"),
		},
		Mutual:   true, // keys of elliptic curves take a hundredth of what those of RSA take to make, read and use
		Settings: Settings{Secret: "webhook-certs", Validity: 21 * time.Minute, SettleTime: time.Minute, CheckPeriod: 10 * time.Second},
		Metrics:  NewMetrics(prometheus.NewRegistry()),
	})
}

// data is the Secret's.
func (h *fakeHub) data(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := json.Marshal(h.object(secretPath)["data"])
	if err != nil {
		t.Fatal(err)
	}
	var data map[string][]byte
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	return maps.Clone(data)
}

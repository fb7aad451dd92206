// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// discovered serves discovery, with Deployments and what else is said.
type discovered struct {
	asked atomic.Int64
	more  atomic.Pointer[string] // another kind, its resource is that in lower case with an s
}

func (d *discovered) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	version := map[string]any{"groupVersion": "apps/v1", "version": "v1"}
	w.Header().Set("Content-Type", "application/json")
	var body map[string]any
	switch req.URL.Path {
	case "/api":
		body = map[string]any{"kind": "APIVersions", "versions": []any{}}
	case "/apis":
		d.asked.Add(1)
		body = map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			map[string]any{"name": "apps", "versions": []any{version}, "preferredVersion": version},
		}}
	case "/apis/apps/v1":
		resources := []any{map[string]any{"name": "deployments", "kind": "Deployment", "namespaced": true}}
		if more := d.more.Load(); more != nil {
			resources = append(resources, map[string]any{"name": strings.ToLower(*more) + "s", "kind": *more, "namespaced": true})
		}
		body = map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apps/v1", "resources": resources}
	}
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}

func newDiscovered(t *testing.T) (*discovered, *Mapper) {
	t.Helper()
	d := &discovered{}
	_, conn := dial(t, d, Options{})
	return d, NewMapper(func() rest.Interface { return conn.Client() }, NewReading())
}

func expectResource(t *testing.T, m *Mapper, kind, want string) {
	t.Helper()
	got := "none"
	if mapping, err := m.RESTMapping(schema.GroupKind{Group: "apps", Kind: kind}); err == nil {
		got = mapping.Resource.Resource
	} else if !meta.IsNoMatchError(err) {
		got = err.Error()
	}
	if got != want {
		t.Errorf("the resource of %s = %s, want %s", kind, got, want)
	}
}

func TestMapper(t *testing.T) {
	t.Parallel()
	east, m := newDiscovered(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { expectResource(t, m, "Deployment", "deployments") })
	}
	all.Wait()
	if n := east.asked.Load(); n != 1 {
		t.Errorf("resources were read %d times for 8 questions, want once", n)
	}

	widget := "Widget"
	expectResource(t, m, "Widget", "none")
	east.more.Store(&widget)
	expectResource(t, m, "Widget", "none") // it was discovered a moment ago
	if n := east.asked.Load(); n != 2 {
		t.Errorf("resources were read %d times, want twice: again for the first that was not found, within a minute", n)
	}
	ago := func(d time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.reset = time.Now().Add(-d)
	}
	ago(mapperReset - 10*time.Second) // which a busy machine does not take to ask
	expectResource(t, m, "Widget", "none")
	ago(mapperReset)
	expectResource(t, m, "Widget", "widgets")
}

func TestMappingsAreRememberedUntilResourcesAreReadAgain(t *testing.T) {
	t.Parallel()
	_, m := newDiscovered(t)
	deployment := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	mappings := func(want *meta.RESTMapping, versions ...string) *meta.RESTMapping {
		t.Helper()
		found, err := m.RESTMappings(deployment, versions...)
		if err != nil || len(found) != 1 || want != nil && found[0] != want {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	if known := m.Known(deployment); known != nil {
		t.Errorf("%v is known before anybody asked", known)
	}
	first := mappings(nil)
	mappings(first)
	if known := m.Known(deployment); len(known) != 1 || known[0] != first {
		t.Errorf("%v is known", known)
	}
	if other := mappings(nil, "v1"); other == first {
		t.Error("the answer to another question was given")
	}
	if _, err := m.RESTMappings(deployment, "v2"); !meta.IsNoMatchError(err) { // so the resources are read again
		t.Errorf("a version that is not served: %v", err)
	}
	if again := mappings(nil); again == first {
		t.Error("the answer of a former reading was given")
	}
	m.keep(mappingKey{kind: schema.GroupKind{Kind: "Late"}}, []*meta.RESTMapping{first}, m.readings-1)
	if found, _ := m.known(mappingKey{kind: schema.GroupKind{Kind: "Late"}}); found != nil {
		t.Error("the answer of a former reading was kept")
	}
}

// A cluster of today tells all in two documents.
func TestAggregatedDiscovery(t *testing.T) {
	t.Parallel()
	const kind = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[%s]}`
	documents := map[string]string{
		"/api": fmt.Sprintf(kind, ""),
		"/apis": fmt.Sprintf(kind, `{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"deployments",
			"responseKind":{"group":"apps","version":"v1","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment"}]}]}`),
	}
	_, conn := dial(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		if documents[req.URL.Path] == "" {
			t.Errorf("%s was asked for", req.URL.Path)
		}
		_, _ = io.WriteString(w, documents[req.URL.Path])
	}), Options{})
	m := NewMapper(func() rest.Interface { return conn.Client() }, NewReading())
	expectResource(t, m, "Deployment", "deployments")
	expectResource(t, m, "Widget", "none")
}

// A document that unfolds is not decoded, in any form.
func TestDiscoveryThatUnfolds(t *testing.T) { // alone: it measures
	for form, field := range map[string]string{
		"application/json": "groups", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList": "items",
	} {
		bomb := `{"kind":"APIGroupList","versions":["v1"],"` + field + `":[` + strings.Repeat("{},", 1<<20) + "{}]}"
		peer, conn := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", form)
			_, _ = io.WriteString(w, bomb)
		}), Options{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := NewMapper(func() rest.Interface { return conn.Client() }, peer.Reading())
		_, err := m.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 128<<20 {
			t.Errorf("%s: %v after %d MiB", form, err, took>>20)
		}
	}
}

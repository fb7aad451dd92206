// SPDX-License-Identifier: Apache-2.0

package member

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discovered has a member serve discovery, too, with Deployments and what else is said.
type discovered struct {
	*fakeMember

	asked atomic.Int64
	more  atomic.Pointer[string] // another kind, its resource is that in lower case with an s
}

func newDiscovered(t *testing.T, uid string) *discovered {
	d := &discovered{fakeMember: newFakeMember(t, uid)}
	d.Config.Handler = http.HandlerFunc(d.discover)
	return d
}

func (d *discovered) discover(w http.ResponseWriter, req *http.Request) {
	presented := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	good := false
	d.set(func() { good = presented == d.token && d.code == 0 })
	version := map[string]any{"groupVersion": "apps/v1", "version": "v1"}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !good:
		d.ServeHTTP(w, req)
	case req.URL.Path == "/api":
		answer(w, map[string]any{"kind": "APIVersions", "versions": []any{}})
	case req.URL.Path == "/apis":
		d.asked.Add(1)
		answer(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			map[string]any{"name": "apps", "versions": []any{version}, "preferredVersion": version},
		}})
	case req.URL.Path == "/apis/apps/v1":
		resources := []any{map[string]any{"name": "deployments", "kind": "Deployment", "namespaced": true}}
		if more := d.more.Load(); more != nil {
			resources = append(resources, map[string]any{"name": strings.ToLower(*more) + "s", "kind": *more, "namespaced": true})
		}
		answer(w, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apps/v1", "resources": resources})
	default:
		d.ServeHTTP(w, req)
	}
}

func resourceOf(m *Member, kind string) string {
	mapping, err := m.Mapper().RESTMapping(schema.GroupKind{Group: "apps", Kind: kind})
	switch {
	case meta.IsNoMatchError(err):
		return "none"
	case err != nil:
		return err.Error()
	}
	return mapping.Resource.Resource
}

func expectResource(t *testing.T, m *Member, kind, want string) {
	t.Helper()
	if got := resourceOf(m, kind); got != want {
		t.Errorf("the resource of %s in %s = %s, want %s", kind, m.Name(), got, want)
	}
}

func TestMapper(t *testing.T) {
	t.Parallel()
	hub, east := newFakeHub(t), newDiscovered(t, "1")
	hub.put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	m := r.member("east")
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
	expectResource(t, m, "Widget", "none") // it was looked for a moment ago
	if n := east.asked.Load(); n != 2 {
		t.Errorf("resources were read %d times, want twice: again for the first that was not found, within a minute", n)
	}
	m.mapper.mu.Lock()
	m.mapper.reset = m.mapper.reset.Add(-mapperReset + time.Second)
	m.mapper.mu.Unlock()
	expectResource(t, m, "Widget", "none")
	m.mapper.mu.Lock()
	m.mapper.reset = m.mapper.reset.Add(-time.Second)
	m.mapper.mu.Unlock()
	expectResource(t, m, "Widget", "widgets")

	east.set(func() { east.token = "an0ther" })
	hub.put(t, east.secret(t, "east"))
	r.eventually("east=Ready", r.summary)
	expectResource(t, m, "Deployment", "deployments")
	if n := east.asked.Load(); n != 3 {
		t.Errorf("resources were read %d times, want 3 times: other credentials are no other cluster", n)
	}
}

func TestMapperFollowsCredentialsAndIdentity(t *testing.T) {
	t.Parallel()
	hub, east := newFakeHub(t), newDiscovered(t, "1")
	hub.put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	m := r.member("east")
	old := m.Client()
	east.set(func() { east.token = "an0ther" })
	hub.put(t, east.secret(t, "east"))
	r.eventually("another client", func() string {
		if m.Client() != old && m.Silence() == nil {
			return "another client"
		}
		return r.summary()
	})
	expectResource(t, m, "Deployment", "deployments")

	widget := "Widget"
	east.more.Store(&widget)
	east.set(func() { east.uid = "2" })
	r.eventually("another member", func() string {
		if now := r.Members(); len(now) == 1 && now[0] != m && now[0].Silence() == nil {
			return "another member"
		}
		return r.summary()
	})
	expectResource(t, r.member("east"), "Widget", "widgets")
}

func TestMapperOfASilentMember(t *testing.T) {
	t.Parallel()
	hub, east := newFakeHub(t), newDiscovered(t, "1")
	east.code = 401
	hub.put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Forbidden")
	m := r.member("east")
	if _, err := m.Mapper().RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"}); err == nil || meta.IsNoMatchError(err) {
		t.Errorf("mapping = %v, want that the member could not be asked", err)
	}
	east.set(func() { east.code = 0 })
	r.becomes("east=Ready")
	expectResource(t, m, "Deployment", "deployments")
}

func TestMappingsAreRememberedUntilResourcesAreReadAgain(t *testing.T) {
	t.Parallel()
	hub, east := newFakeHub(t), newDiscovered(t, "1")
	hub.put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	one := r.member("east")
	m := &one.mapper
	deployment := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	mappings := func(want *meta.RESTMapping, versions ...string) *meta.RESTMapping {
		t.Helper()
		found, err := m.RESTMappings(deployment, versions...)
		if err != nil || len(found) != 1 || want != nil && found[0] != want {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	if known := one.KnownMappings(deployment); known != nil {
		t.Errorf("%v is known before anybody asked", known)
	}
	first := mappings(nil)
	mappings(first)
	if known := one.KnownMappings(deployment); len(known) != 1 || known[0] != first {
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

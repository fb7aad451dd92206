// SPDX-License-Identifier: Apache-2.0

package member

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
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
		memberstest.Answer(w, map[string]any{"kind": "APIVersions", "versions": []any{}})
	case req.URL.Path == "/apis":
		d.asked.Add(1)
		memberstest.Answer(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			map[string]any{"name": "apps", "versions": []any{version}, "preferredVersion": version},
		}})
	case req.URL.Path == "/apis/apps/v1":
		resources := []any{map[string]any{"name": "deployments", "kind": "Deployment", "namespaced": true}}
		if more := d.more.Load(); more != nil {
			resources = append(resources, map[string]any{"name": strings.ToLower(*more) + "s", "kind": *more, "namespaced": true})
		}
		memberstest.Answer(w, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apps/v1", "resources": resources})
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

func TestMapperFollowsCredentialsAndIdentity(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newDiscovered(t, "1")
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	m := r.member("east")
	old := m.Client()
	east.set(func() { east.token = "an0ther" })
	hub.Put(t, east.secret(t, "east"))
	memberstest.Eventually(t, "another client", func() string {
		if m.Client() != old && m.Silence() == nil {
			return "another client"
		}
		return r.summary()
	})
	expectResource(t, m, "Deployment", "deployments")

	widget := "Widget"
	east.more.Store(&widget)
	east.set(func() { east.uid = "2" })
	memberstest.Eventually(t, "another member", func() string {
		if now := r.Members(); len(now) == 1 && now[0] != m && now[0].Silence() == nil {
			return "another member"
		}
		return r.summary()
	})
	expectResource(t, r.member("east"), "Widget", "widgets")
}

func TestMapperOfASilentMember(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newDiscovered(t, "1")
	east.code = 401
	hub.Put(t, east.secret(t, "east"))
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

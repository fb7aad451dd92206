// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// server is a cluster's API server, which answers as it is told.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	versions []string            // of the group autoscaling
	answers  map[string][]answer // by verb and path, with "watch" and the token of a page; the last one stays
	requests []string            // of namespaces, and what was sent
	refuses  bool                // who asks
	hangs    chan struct{}       // closed when discovery is to be answered; nil: at once
}

// answer is a code, and a body.
type answer struct {
	code int
	body string
}

func newServer(t *testing.T, versions ...string) *server {
	s := &server{versions: versions, answers: map[string][]answer{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// says makes it answer a request such as "GET /apis/apps/v1/namespaces/shop/deployments/web" from now on.
func (s *server) says(request string, code int, body string) {
	s.set(func() { s.answers[request] = []answer{{code, body}} })
}

// then makes it answer so when it has answered as it was told before.
func (s *server) then(request string, code int, body string) {
	s.set(func() { s.answers[request] = append(s.answers[request], answer{code, body}) })
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// heard are the requests since it was last called.
func (s *server) heard() (all []string) {
	s.set(func() { all, s.requests = s.requests, nil })
	return all
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api/v1/namespaces/kube-system":
		s.identify(w)
	case strings.Contains(r.URL.Path, "/namespaces/"), r.URL.Path == "/api/v1/nodes", r.URL.Path == "/api/v1/pods", r.URL.Path == hubVPAPath,
		s.isTold(r):
		s.answer(w, r)
	default:
		s.discover(w, r)
	}
}

// isTold is true for a request that it is told how to answer.
func (s *server) isTold(r *http.Request) (told bool) {
	s.set(func() { told = len(s.answers[r.Method+" "+r.URL.Path]) > 0 })
	return told
}

func (s *server) identify(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.WriteString(w, `{"metadata":{"uid":"1"}}`)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	request, key := describeRequest(r, string(body)), r.Method+" "+r.URL.Path
	watches := r.URL.Query().Get("watch") == "true"
	if watches {
		key += " watch"
	}
	if token := r.URL.Query().Get("continue"); token != "" {
		key += " " + token
	}
	a := answer{http.StatusNotFound, status(http.StatusNotFound, "NotFound", "")}
	s.set(func() {
		s.requests = append(s.requests, request)
		if all := s.answers[key]; len(all) > 0 {
			a, s.answers[key] = all[0], all[min(1, len(all)-1):]
		}
	})
	if a.code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1") // at which clients ask again
	}
	w.WriteHeader(a.code)
	_, _ = io.WriteString(w, a.body)
	if watches {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// describeRequest is a request in some lines: what it asks, the type of its body, the body.
func describeRequest(r *http.Request, body string) string {
	lines := r.Method + " " + r.URL.Path
	query := r.URL.Query()
	query.Del("timeout") // the client's, on every request
	if len(query) > 0 {
		lines += "?" + query.Encode()
	}
	if body == "" {
		return lines
	}
	return lines + "\n" + r.Header.Get("Content-Type") + "\n" + strings.TrimSpace(body)
}

// status is a refusal; the details are JSON.
func status(code int, reason, details string) string {
	return statusSaying(code, reason, "the cluster says "+reason, details)
}

func statusSaying(code int, reason, message, details string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q,"details":%s}`, code, reason,
		message, cmp.Or(details, "{}"))
}

func (s *server) discover(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	versions, hangs := s.versions, s.hangs
	s.mu.Unlock()
	if hangs != nil {
		select {
		case <-hangs:
		case <-r.Context().Done():
			return
		}
	}
	served := map[string]any{
		"/api":    metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/api/v1": resources("v1", "ReplicationController"),
		"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"},
			Groups: []metav1.APIGroup{group("apps", "v1"), group("autoscaling", versions...)}},
		"/apis/apps/v1": resources("apps/v1", "Deployment", "StatefulSet"),
	}
	for _, version := range versions {
		served["/apis/autoscaling/"+version] = resources("autoscaling/"+version, "HorizontalPodAutoscaler")
	}
	if served[r.URL.Path] == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(served[r.URL.Path])
}

func group(name string, versions ...string) metav1.APIGroup {
	g := metav1.APIGroup{Name: name}
	for _, version := range versions {
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + version, Version: version})
	}
	if len(versions) > 0 {
		g.PreferredVersion = g.Versions[0]
	}
	return g
}

func resources(version string, kinds ...string) metav1.APIResourceList {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: version}
	for _, kind := range kinds {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: strings.ToLower(kind) + "s", Kind: kind, Namespaced: true})
	}
	return list
}

// join registers the cluster as east, and returns it once it is ready. Namespaces are those in scope; none: all.
func (s *server) join(t *testing.T, namespaces ...string) Cluster {
	t.Helper()
	hub := memberstest.NewHub(t)
	hub.Put(t, registrationtest.Secret(s.kubeconfig(t)))
	typed, untyped := hub.Clients(t)
	registry := member.New(member.Options{
		Hub: typed, HubDynamic: untyped, Registrations: registration.Options{Namespace: "fleet"},
		Connections: connection.Options{Timeout: 20 * time.Second, AllowLocal: true}, ProbePeriod: 50 * time.Millisecond,
	})
	store := pods.New(pods.Options{})
	rooms := capacity.New(capacity.Options{Pods: store, Hub: untyped, Timeout: 20 * time.Second})
	scope, err := tenancy.NewScope(namespaces)
	if err != nil {
		t.Fatal(err)
	}
	members := NewMembers(registry, store, rooms, scope)
	for _, run := range []func(context.Context) error{registry.Run, store.Run, rooms.Run, members.Run} {
		keep(t, run)
	}
	eventually(t, "one cluster that is ready", func() bool {
		all := members.Clusters()
		return members.Settled() == nil && len(all) == 1 && all[0].Silence() == nil
	})
	return members.Clusters()[0]
}

// keep runs something until the test ends.
func keep(t *testing.T, run func(context.Context) error) {
	memberstest.Run(memberstest.Logged(t), t, run)
}

// kubeconfig leads to it.
func (s *server) kubeconfig(t *testing.T) []byte {
	t.Helper()
	return registrationtest.Kubeconfig(t, registrationtest.OnCluster(func(c *clientcmdapi.Cluster) {
		c.Server, c.CertificateAuthorityData = s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}))
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	memberstest.Eventually(t, what, func() string {
		if !holds() {
			return ""
		}
		return what
	})
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

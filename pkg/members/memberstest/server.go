// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"cmp"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// Server is a cluster's API server, which answers as it is told.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	answers  map[string][]told // by verb and path, with "watch" and the token of a page; the last one stays
	requests []string          // of namespaces, and what was sent

	Versions []string      // of the group autoscaling
	Refuses  bool          // who asks
	Hangs    chan struct{} // closed when discovery is to be answered; nil: at once
}

// told is a code, and a body.
type told struct {
	code int
	body string
}

// NewServer serves these versions of the group autoscaling.
func NewServer(t testing.TB, versions ...string) *Server {
	s := &Server{Versions: versions, answers: map[string][]told{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Says makes it answer a request such as "GET /apis/apps/v1/namespaces/shop/deployments/web" from now on.
func (s *Server) Says(request string, code int, body string) {
	s.Set(func() { s.answers[request] = []told{{code, body}} })
}

// Then makes it answer so when it has answered as it was told before.
func (s *Server) Then(request string, code int, body string) {
	s.Set(func() { s.answers[request] = append(s.answers[request], told{code, body}) })
}

// Set changes what its fields say.
func (s *Server) Set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Heard are the requests since it was last called.
func (s *Server) Heard() (all []string) {
	s.Set(func() { all, s.requests = s.requests, nil })
	return all
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api/v1/namespaces/kube-system":
		s.identify(w)
	case strings.Contains(r.URL.Path, "/namespaces/"), r.URL.Path == "/api/v1/nodes", r.URL.Path == "/api/v1/pods", s.isTold(r):
		s.answer(w, r)
	default:
		s.discover(w, r)
	}
}

// isTold is true for a request that it is told how to answer.
func (s *Server) isTold(r *http.Request) (told bool) {
	s.Set(func() { told = len(s.answers[r.Method+" "+r.URL.Path]) > 0 })
	return told
}

func (s *Server) identify(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Refuses {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.WriteString(w, `{"metadata":{"uid":"1"}}`)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	request, key := describeRequest(r, string(body)), r.Method+" "+r.URL.Path
	watches := r.URL.Query().Get("watch") == "true"
	if watches {
		key += " watch"
	}
	if token := r.URL.Query().Get("continue"); token != "" {
		key += " " + token
	}
	a := told{http.StatusNotFound, Status(http.StatusNotFound, "NotFound", "")}
	s.Set(func() {
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

// Status is what an API server says of one; the details are JSON.
func Status(code int, reason, details string) string {
	return StatusSaying(code, reason, "the cluster says "+reason, details)
}

// StatusSaying is one with these words.
func StatusSaying(code int, reason, message, details string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q,"details":%s}`, code, reason,
		message, cmp.Or(details, "{}"))
}

func (s *Server) discover(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	versions, hangs := s.Versions, s.Hangs
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

// Secret registers it as east.
func (s *Server) Secret(t testing.TB) *corev1.Secret {
	t.Helper()
	return registrationtest.Secret(registrationtest.Kubeconfig(t, registrationtest.OnCluster(func(c *clientcmdapi.Cluster) {
		c.Server, c.CertificateAuthorityData = s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	})))
}

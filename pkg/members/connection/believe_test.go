// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// front passes on what is below its path to a cluster that has nothing but its kube-system, or answers itself.
type front struct {
	path   string
	itself http.HandlerFunc // answers instead of the cluster, unless nil

	mu    sync.Mutex
	asked []string
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, f.path)
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+path)
	f.mu.Unlock()
	switch {
	case f.itself != nil:
		f.itself(w, r)
	case path == IdentityPath:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":"1"}}`))
	default:
		http.NotFound(w, r)
	}
}

// notFound is what a hub of Karmada says when something of its own is not there.
func notFound(kind, group, name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"` + name +
			`","group":"` + group + `","kind":"` + kind + `"}}`))
	}
}

// A 404 says that the cluster has none only if the cluster said it, and not what is in front of it.
func TestWhose404(t *testing.T) {
	const (
		through = "/apis/cluster.karmada.io/v1alpha1/clusters/west/proxy"
		pods    = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
	)
	unavailable := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, IdentityPath) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.NotFound(w, r)
	}
	for name, tc := range map[string]struct {
		path   string
		itself http.HandlerFunc
		absent bool
		says   string
		asked  int
	}{
		"the cluster's, asked itself":         {absent: true, asked: 1},
		"the cluster's, behind a path":        {path: through, absent: true, asked: 2},
		"the hub's: the proxy is missing":     {path: through, itself: http.NotFound, says: "404 to GET " + IdentityPath, asked: 2},
		"the hub's: the Cluster is unknown":   {path: through, itself: notFound("clusters", "cluster.karmada.io", "west"), asked: 2},
		"the hub's: a Secret is missing":      {path: through, itself: notFound("secrets", "", "west-impersonator"), asked: 2},
		"nobody's: the cluster does not tell": {path: through, itself: unavailable, says: "503 to GET", asked: 2},
	} {
		for verb, ask := range map[string]func(context.Context, *Connection) error{
			"read": func(ctx context.Context, c *Connection) error { return c.Client().Get().AbsPath(pods).Do(ctx).Error() },
			"delete": func(ctx context.Context, c *Connection) error {
				return c.Client().Delete().AbsPath(pods).Do(ctx).Error()
			},
			"watch": func(ctx context.Context, c *Connection) error {
				_, err := c.WatchClient().Get().AbsPath(pods).Param("watch", "true").Watch(ctx)
				return err
			},
		} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				f := &front{path: tc.path, itself: tc.itself}
				server := httptest.NewServer(f)
				defer server.Close()
				peer := NewPeer("west", Options{AllowLocal: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil)
				c, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL + f.path}})
				if err != nil {
					t.Fatal(err)
				}
				err = ask(t.Context(), c)
				silence, absent := fleet.Classify(err)
				if absent != tc.absent || apierrors.IsNotFound(err) != tc.absent {
					t.Errorf("%v: absent: %v, want %v", err, absent, tc.absent)
				}
				if !tc.absent && (silence == nil || silence.Reason != fleet.ReasonUnreachable || !strings.Contains(silence.Detail, tc.says)) {
					t.Errorf("silence = %v, want that it is unreachable: %s", silence, tc.says)
				}
				if len(f.asked) != tc.asked || tc.asked > 1 && !slices.Contains(f.asked, "GET "+IdentityPath) {
					t.Errorf("asked %q, want %d requests", f.asked, tc.asked)
				}
			})
		}
	}
}

// An error of the question who answers is not taken for an answer, either.
func TestWhose404CannotBeAsked(t *testing.T) {
	f := &front{path: "/k8s/clusters/c-1"}
	f.itself = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, IdentityPath) {
			panic(http.ErrAbortHandler)
		}
		http.NotFound(w, r)
	}
	server := httptest.NewServer(f)
	defer server.Close()
	peer := NewPeer("west", Options{AllowLocal: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil)
	c, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL + f.path}})
	if err != nil {
		t.Fatal(err)
	}
	_, code, err := c.Get(t.Context(), "/apis")
	if err == nil || code != 0 || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("answered %d, %v, want an error", code, err)
	}
}

// A 404 to what each cluster has is no answer of one, whoever asks, and however.
func TestFrontThatAnswers404ToAll(t *testing.T) {
	for path, want := range map[string]*fleet.Silence{
		"": fleet.Silencef(fleet.ReasonBadAnswer, "404 to GET %s: is the address that of a Kubernetes API server?", IdentityPath),
		"/k8s/clusters/c-1": fleet.Silencef(fleet.ReasonUnreachable,
			"404 to GET %s: what is in front of the cluster does not pass requests on to it", IdentityPath),
	} {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		var failed []fleet.Reason
		peer := NewPeer("west", Options{AllowLocal: true}.WithDefaults(), nil, func(r fleet.Reason) { failed = append(failed, r) }, nil)
		c, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL + path}})
		if err != nil {
			t.Fatal(err)
		}
		_, _, probed := c.Get(t.Context(), IdentityPath)
		for name, err := range map[string]error{
			"a probe": probed,
			"a call":  c.Client().Get().AbsPath(IdentityPath).Do(t.Context()).Error(),
			"a watch": c.WatchClient().Get().AbsPath(IdentityPath).Do(t.Context()).Error(),
		} {
			if silence, _ := fleet.Classify(err); silence == nil || *silence != *want {
				t.Errorf("%s of %q: %v, want %v", name, path, silence, want)
			}
		}
		if !peer.LastSuccess().IsZero() || !slices.Equal(failed, []fleet.Reason{want.Reason, want.Reason, want.Reason}) {
			t.Errorf("%q answered at %v, and failed as %v", path, peer.LastSuccess(), failed)
		}
	}
}

// Who answers is asked within the limit of requests, and over connections that are used again.
func TestWhose404IsAskedSparingly(t *testing.T) {
	const metrics = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/x/y"
	var connections atomic.Int32
	f := &front{path: "/k8s/clusters/c-1"}
	server := httptest.NewUnstartedServer(f)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	options := Options{AllowLocal: true, QPS: 0.01, Burst: 1000, Timeout: time.Second}.WithDefaults()
	peer := NewPeer("west", options, nil, func(r fleet.Reason) { t.Errorf("it counts as %s of the cluster", r) }, nil)
	c, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL + f.path}})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if err := c.Client().Get().AbsPath(metrics).Do(t.Context()).Error(); !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n > 2 {
		t.Errorf("%d connections, for two requests at a time", n)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for peer.limiter.Admit(gone, ratelimit.Other, "") == nil { // until nothing is left
	}
	err = c.Client().Get().AbsPath(metrics).Do(t.Context()).Error()
	if silence, _ := fleet.Classify(err); silence == nil || silence.Reason != fleet.ReasonRateLimited || !ratelimit.Throttled(err) {
		t.Errorf("beyond the limit: %v", err)
	}
	if n := len(f.asked); n != 13 {
		t.Errorf("%d requests were sent, want 13", n)
	}
}

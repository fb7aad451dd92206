// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Through a connection that only reads nothing else reaches the cluster, by either client.
func TestReadOnly(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodGet {
			t.Errorf("%s %s was sent", r.Method, r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	defer server.Close()
	peer := NewPeer("east", Options{AllowLocal: true, ReadOnly: true}.WithDefaults(), NewMetrics(prometheus.NewRegistry()),
		func(reason fleet.Reason) { t.Errorf("a refusal counts as %s of the cluster", reason) }, nil)
	c, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]rest.Interface{"calls": c.Client(), "watches": c.WatchClient()} {
		for _, write := range []*rest.Request{client.Post(), client.Put(), client.Patch("application/merge-patch+json"), client.Delete()} {
			if err := write.AbsPath("/api/v1/namespaces/shop/pods/web").Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
				t.Errorf("%s: %v, want a refusal", name, err)
			}
		}
		if err := client.Get().AbsPath("/version").Do(t.Context()).Error(); err != nil {
			t.Errorf("%s: a read: %v", name, err)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the cluster was asked %d times, want twice", n)
	}
}

// A cluster behind a path, as behind Rancher, is asked for reviews too.
func TestReadOnlyBelowAPath(t *testing.T) {
	const review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	var asked atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(&r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	defer server.Close()
	peer := NewPeer("east", Options{AllowLocal: true, ReadOnly: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil)
	c, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL + "/k8s/clusters/c-1/"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Client().Post().AbsPath(review).Do(t.Context()).Error(); err != nil {
		t.Error(err)
	}
	if path := asked.Load(); path == nil || *path != "/k8s/clusters/c-1"+review {
		t.Errorf("asked for %v", path)
	}
}

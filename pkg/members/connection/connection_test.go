// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// dial connects to a server over TLS and HTTP/2 that answers so.
func dial(t testing.TB, h http.Handler, o Options) (*Peer, *Connection) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		h.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	o.AllowLocal = true
	p := NewPeer("east", o.WithDefaults(), nil, func(fleet.Reason) {}, nil)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	conn, err := p.Connect(registration.Endpoint{Config: &rest.Config{
		Host: server.URL, BearerToken: "s3cret", TLSClientConfig: rest.TLSClientConfig{CAData: ca},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p, conn
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var strayed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	_, c := dial(t, http.RedirectHandler(elsewhere.URL, http.StatusFound), Options{})
	if _, code, err := c.Get(t.Context(), "/"); code != http.StatusFound || err != nil {
		t.Errorf("code %d, error %v; want the redirection itself", code, err)
	}
	if n := strayed.Load(); n != 0 {
		t.Errorf("%d requests went where the answer pointed, with our token", n)
	}
}

func TestResults(t *testing.T) {
	tests := map[int]string{200: "Answered", 404: "Answered", 401: "Forbidden", 403: "Forbidden", 429: "RateLimited", 500: "ServerError",
		504: "Timeout", 400: "BadAnswer", 302: "BadAnswer"}
	for code, want := range tests {
		if got := resultOf(&http.Response{StatusCode: code}, nil); got != want {
			t.Errorf("resultOf(%d) = %s, want %s", code, got, want)
		}
	}
	if got := resultOf(nil, fmt.Errorf("asking: %w", context.Canceled)); got != "Canceled" {
		t.Errorf("resultOf(our own change of mind) = %s, want Canceled", got)
	}
}

func TestBodyIsMeteredOnce(t *testing.T) {
	var results []string
	b := &meteredBody{ReadCloser: io.NopCloser(strings.NewReader("x")), done: func(err error) { results = append(results, fmt.Sprint(err)) }}
	if _, err := io.ReadAll(b); err != nil {
		t.Fatal(err)
	}
	b.Close()
	broken := &meteredBody{ReadCloser: io.NopCloser(io.MultiReader(strings.NewReader("x"), failing{})),
		redact: func(err error) error { return err },
		done:   func(err error) { results = append(results, fmt.Sprint(err)) }}
	_, _ = io.ReadAll(broken)
	broken.Close()
	if got := strings.Join(results, ","); got != "<nil>,unexpected EOF" {
		t.Errorf("results = %s", got)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAPIOf(t *testing.T) {
	tests := map[string]string{
		"/apis/metrics.k8s.io/v1beta1":                            "/apis/metrics.k8s.io/v1beta1",
		"/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods":       "/apis/metrics.k8s.io/v1beta1",
		"/api/v1/namespaces/apis/pods":                            "/api/v1/namespaces/apis/pods",
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/a/apis": "/apis/external.metrics.k8s.io/v1beta1",
		"/apis/metrics.k8s.io":                                    "/apis/metrics.k8s.io",
		"/api/v1/pods":                                            "/api/v1/pods",
	}
	for path, want := range tests {
		if got := apiOf(path); got != want {
			t.Errorf("apiOf(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestLateRequestsBringNoSeriesBack(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m := &meter{cluster: "east", metrics: NewMetrics(reg)}
	m.observe(resultAnswered, 0)
	m.close()
	m.observe(resultAnswered, 0)
	if left, err := reg.Gather(); len(left) != 0 || err != nil {
		t.Errorf("after the cluster has left: %v, %v", left, err)
	}
}

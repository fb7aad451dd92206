// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// reviewer is a hub that knows two users by their tokens, of whom one may get /metrics.
type reviewer struct{}

func (reviewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/apis/authentication.k8s.io/v1/tokenreviews":
		var review authenticationv1.TokenReview
		if json.NewDecoder(r.Body).Decode(&review) == nil && (review.Spec.Token == "scraper" || review.Spec.Token == "tenant") {
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: review.Spec.Token}}
		}
		json.NewEncoder(w).Encode(review)
	case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
		var review authorizationv1.SubjectAccessReview
		if json.NewDecoder(r.Body).Decode(&review) == nil {
			at := review.Spec.NonResourceAttributes
			review.Status.Allowed = review.Spec.User == "scraper" && at != nil && at.Path == "/metrics" && at.Verb == "get"
		}
		json.NewEncoder(w).Encode(review)
	default:
		http.NotFound(w, r)
	}
}

func TestMetricsAreForWhomTheHubAllows(t *testing.T) {
	hub := httptest.NewServer(reviewer{})
	t.Cleanup(hub.Close)
	config := &rest.Config{Host: hub.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	port := commandtest.FreePort(t)
	own := httptest.NewTLSServer(nil)
	t.Cleanup(own.Close)
	certificate := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &own.TLS.Certificates[0], nil }
	server, err := metricsserver.NewServer(MetricsServer(":"+port, certificate), config, hub.Client())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	client := own.Client() // it trusts that certificate, and no other
	defer client.CloseIdleConnections()
	get := func(token string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		var resp *http.Response
		if err := commandtest.Await(t, func() bool { resp, err = client.Do(req); return err == nil }); err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	for token, want := range map[string]int{
		"": http.StatusUnauthorized, "stranger": http.StatusInternalServerError, "tenant": http.StatusForbidden, "scraper": http.StatusOK,
	} {
		fleettest.Same(t, "status for "+token, want, get(token))
	}
}

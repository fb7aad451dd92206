// SPDX-License-Identifier: Apache-2.0

package readonly

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestNothingButReadsIsSent(t *testing.T) {
	const (
		pods    = "/api/v1/namespaces/shop/pods"
		reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
	)
	for _, tc := range []struct {
		method, path string
		sent         bool
	}{
		{"", pods, true},
		{http.MethodGet, pods, true},
		{http.MethodGet, pods + "?watch=true", true},
		{http.MethodHead, pods, true},
		{http.MethodOptions, pods, true},
		{http.MethodPost, pods, false},
		{http.MethodPost, pods + "?dryRun=All", false},
		{http.MethodPost, pods + "/web-1/eviction", false},
		{http.MethodPut, "/apis/apps/v1/namespaces/shop/deployments/web/scale", false},
		{http.MethodPatch, pods + "/web-1", false},
		{http.MethodDelete, pods + "/web-1", false},
		{"get", pods, false}, // a method is as it is written
		{http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/fleetscale-system/leases", false},
		{http.MethodPost, "/apis/events.k8s.io/v1/namespaces/shop/events", false},
		{http.MethodPost, "/api/v1/namespaces/shop/serviceaccounts/web/token", false},
		{http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", true},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", true},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", true},
		{http.MethodPut, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", false},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews/../x", false},
		{http.MethodPost, "/api/v1/namespaces/shop/services/web/proxy" + reviews, false},
		{http.MethodGet, pods + "/web-1/exec?command=reboot", false},
		{http.MethodGet, pods + "/web-1/attach", false},
		{http.MethodHead, pods + "/web-1/portforward", false},
		{http.MethodGet, pods + "/web-1/proxy/reboot", false},
		{http.MethodGet, "/api/v1/namespaces/shop/services/web/proxy", false},
		{http.MethodGet, "/api/v1/nodes/n1/proxy/run/shop/web-1/c", false},
		{http.MethodGet, "/api/v1/proxy/nodes/n1", false},
		{http.MethodGet, "/apis/cluster.karmada.io/v1alpha1/clusters/west/proxy/api", false},
		{http.MethodGet, pods + "/exec", true}, // of that name
		{http.MethodGet, pods + "/web-1/log", true},
		{http.MethodGet, "/api/v1/nodes/proxy", true},
		{http.MethodGet, "/api/v1/namespaces/proxy", true},
		{http.MethodGet, "/api/v1", true},
		{http.MethodGet, "/apis/apps/v1", true},
		{http.MethodGet, "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/web-1/proxy", true},
	} {
		for _, base := range []string{"", "/k8s/clusters/c-1", "/apis/cluster.karmada.io/v1alpha1/clusters/west/proxy"} {
			t.Run(tc.method+" "+base+tc.path, func(t *testing.T) {
				if got := sends(t, base, tc.method, base+tc.path); got != tc.sent {
					t.Errorf("sent: %v, want %v", got, tc.sent)
				}
			})
		}
	}
	if sends(t, "/k8s/clusters/c-1", http.MethodPost, reviews) {
		t.Error("a review of somebody else at the same address was sent")
	}
}

// sends is whether a request is sent by a transport for an API server below base.
func sends(t *testing.T, base, method, path string) (sent bool) {
	t.Helper()
	transport := Transport(base, roundTrip(func(*http.Request) (*http.Response, error) {
		sent = true
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	req := httptest.NewRequest(http.MethodGet, "https://hub"+path, nil)
	req.Method = method
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if (resp.StatusCode == http.StatusOK) != sent {
		t.Errorf("sent: %v, answered with %d", sent, resp.StatusCode)
	}
	return sent
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// What begins as a GET may continue as another protocol.
func TestUpgradesAreNotSent(t *testing.T) {
	req := httptest.NewRequest(http.MethodGet, "https://hub/apis/subresources.kubevirt.io/v1/namespaces/shop/vms/a/vnc", nil)
	req.Header.Set("Upgrade", "websocket")
	resp, err := Transport("", roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("it was sent")
		return &http.Response{Body: http.NoBody}, nil
	})).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// A client reads the refusal as that of an API server, and what it says.
func TestClientsUnderstandTheRefusal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was sent", r.Method, r.URL)
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return Transport("", next) })
	hub, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	err = hub.CoreV1().Pods("shop").Delete(t.Context(), "web-1", metav1.DeleteOptions{})
	const want = "DELETE /api/v1/namespaces/shop/pods/web-1 was not sent: this program only observes"
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a refusal that says %q", err, want)
	}
}

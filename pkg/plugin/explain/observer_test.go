// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// An observer is asked for what the hub has, by the same path and without credentials, and its refusals are told.
func TestObservedAt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Method != http.MethodGet {
			t.Errorf("it got %s with the credentials %q", r.Method, r.Header.Get("Authorization"))
		}
		switch r.URL.Path {
		case "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/federatedhpas/cart":
			_ = json.NewEncoder(w).Encode(cart())
		case "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/federatedhpas/gone":
			w.WriteHeader(http.StatusNotFound)
			refusal := apierrors.NewNotFound(v1alpha1.SchemeGroupVersion.WithResource("federatedhpas").GroupResource(), "gone\x1b[2J")
			_ = json.NewEncoder(w).Encode(refusal.Status())
		case "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/federatedhpas/bad": // to decode that takes hours
			_, _ = w.Write([]byte(`{"spec": {"metrics": [{"type": "External", "external": {"target": {"value": "1e-2147483648"}}}]}}`))
		default:
			http.Error(w, "no", http.StatusTeapot)
		}
	}))
	defer server.Close()
	at, _ := plugin.ForwardedAt(server.URL)
	ask := func(name string) (client.Object, error) {
		return observedAt(t.Context(), at, kinds[0], client.ObjectKey{Namespace: "shop", Name: name})
	}
	got, err := ask("cart")
	if err != nil {
		t.Fatal(err)
	}
	want, err := textOf(cart(), cronplan.Target{}, now)
	if err != nil {
		t.Fatal(err)
	}
	text, err := textOf(got, cronplan.Target{}, now)
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, text)
	for name, words := range map[string]string{
		"gone": `asking the observer for federatedhpa shop/gone: federatedhpas.autoscaling.karmada.io "gone`, "other": "418 I'm a teapot",
		"bad": "reading the observer's answer: ",
	} {
		if _, err := ask(name); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, want %s", name, err, words)
		}
	}
}

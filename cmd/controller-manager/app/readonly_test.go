// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// An observer asks who somebody is, and writes nothing, also where the hub is behind a path, as behind Rancher.
func TestObserverOfAHubBehindAPath(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview"}`))
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL + "/k8s/clusters/local/"}
	if err := readOnly(config); err != nil {
		t.Fatal(err)
	}
	hub, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	reviews := hub.AuthenticationV1().TokenReviews()
	if _, err := reviews.Create(t.Context(), &authenticationv1.TokenReview{}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if err := hub.CoreV1().Pods("shop").Delete(t.Context(), "web-1", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("%v, want a refusal", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"POST /k8s/clusters/local/apis/authentication.k8s.io/v1/tokenreviews"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

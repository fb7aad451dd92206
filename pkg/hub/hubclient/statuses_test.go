// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// asked is what a hub gets.
type asked struct {
	Method, Path, Query, Accept, ContentType string
	Object                                   v1alpha1.FederatedHPA
}

// hubThat answers each request in one way, and tells what it was asked last.
func hubThat(t *testing.T, code int, answer any) (client.Client, *asked) {
	t.Helper()
	got := &asked{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = asked{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query().Encode(), Accept: r.Header.Get("Accept"),
			ContentType: r.Header.Get("Content-Type")}
		if err := json.Unmarshal(body, &got.Object); err != nil {
			t.Errorf("the hub got %q: %v", body, err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.SchemeGroupVersion})
	mapper.Add(v1alpha1.SchemeGroupVersion.WithKind("FederatedHPA"), meta.RESTScopeNamespace)
	hub, err := NewClient(&rest.Config{Host: server.URL}, client.Options{
		HTTPClient: server.Client(), Scheme: scheme, Mapper: mapper, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		t.Fatal(err)
	}
	return hub, got
}

func autoscaler() *v1alpha1.FederatedHPA {
	object := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ResourceVersion: "7"}}
	object.Spec.MaxReplicas = 9
	object.Status.CurrentReplicas = 3
	return object
}

func TestStatusUpdate(t *testing.T) {
	whole := autoscaler()
	whole.ResourceVersion, whole.Spec.MaxReplicas = "8", 1
	for name, answer := range map[string]any{
		"answers with metadata":   metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "web", ResourceVersion: "8"}},
		"answers with everything": whole,
	} {
		t.Run(name, func(t *testing.T) {
			hub, got := hubThat(t, http.StatusOK, answer)
			object := autoscaler()
			if err := hub.Status().Update(t.Context(), object, client.FieldOwner("us")); err != nil {
				t.Fatal(err)
			}
			want := autoscaler()
			want.ResourceVersion = "8"
			fleettest.Same(t, "the object afterwards", want, object)
			sent := autoscaler()
			sent.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "FederatedHPA"}
			fleettest.Same(t, "the hub got", &asked{
				Method: http.MethodPut, Path: "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/federatedhpas/web/status",
				Query: "fieldManager=us&fieldValidation=Strict", Accept: accept, ContentType: "application/json", Object: *sent,
			}, got)
		})
	}
}

func TestStatusUpdateRefused(t *testing.T) {
	kind := schema.GroupResource{Group: v1alpha1.SchemeGroupVersion.Group, Resource: "federatedhpas"}
	tests := map[string]struct {
		refusal *apierrors.StatusError
		is      func(error) bool
	}{
		"changed meanwhile":  {apierrors.NewConflict(kind, "web", nil), apierrors.IsConflict},
		"deleted meanwhile":  {apierrors.NewNotFound(kind, "web"), apierrors.IsNotFound},
		"not understood":     {apierrors.NewBadRequest(`strict decoding error: unknown field "status.summary"`), apierrors.IsBadRequest},
		"too many requests":  {apierrors.NewTooManyRequestsError("later"), apierrors.IsTooManyRequests},
		"not allowed":        {apierrors.NewForbidden(kind, "web", nil), apierrors.IsForbidden},
		"the hub is at odds": {apierrors.NewInternalError(io.ErrUnexpectedEOF), apierrors.IsInternalError},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := tc.refusal.Status()
			status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			hub, _ := hubThat(t, int(status.Code), status)
			object := autoscaler()
			err := hub.Status().Update(t.Context(), object)
			if !tc.is(err) || err.Error() != tc.refusal.Error() {
				t.Errorf("Update() = %v, want %v", err, tc.refusal)
			}
			if diff := cmp.Diff(autoscaler(), object); diff != "" {
				t.Errorf("the object has changed:\n%s", diff)
			}
		})
	}
}

func TestStatusUpdateAnsweredWithGarbage(t *testing.T) {
	hub, _ := hubThat(t, http.StatusOK, "no object")
	object := autoscaler()
	if err := hub.Status().Update(t.Context(), object); err == nil || object.ResourceVersion != "7" {
		t.Errorf("Update() = %v, version %q", err, object.ResourceVersion)
	}
}

func TestStatusUpdateOfWhatIsUnknown(t *testing.T) {
	hub, got := hubThat(t, http.StatusOK, nil)
	for _, object := range []client.Object{&v1alpha1.CronFederatedHPA{}, &metav1.PartialObjectMetadata{}} {
		if err := hub.Status().Update(t.Context(), object); err == nil {
			t.Errorf("Update(%T) has no error", object)
		}
	}
	if got.Method != "" {
		t.Errorf("the hub was asked: %v", got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// stored is a hub that has one object of each kind, under one name. Whatever else it is asked for is a panic, writes included.
type stored struct {
	client.Client

	autoscaler *v1alpha1.FederatedHPA
	rules      *v1alpha1.CronFederatedHPA
	sizer      *v1alpha1.MultidimPodAutoscaler
}

func (s *stored) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "federatedhpas"}, key.Name)
	if key.Name != "web" {
		return gone
	}
	switch into := into.(type) {
	case *v1alpha1.FederatedHPA:
		if s.autoscaler == nil {
			return gone
		}
		s.autoscaler.DeepCopyInto(into)
	case *v1alpha1.CronFederatedHPA:
		s.rules.DeepCopyInto(into)
	case *v1alpha1.MultidimPodAutoscaler:
		s.sizer.DeepCopyInto(into)
	}
	return nil
}

func (s *stored) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1alpha1.FederatedHPAList).Items = []v1alpha1.FederatedHPA{*s.autoscaler.DeepCopy()}
	return nil
}

func (s *stored) Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = v1alpha1.AddToScheme(scheme)
	return scheme
}

var web = client.ObjectKey{Namespace: "shop", Name: "web"}

// beside is a hub on which Karmada's controller acts.
func beside() *stored {
	meta := metav1.ObjectMeta{
		Namespace: web.Namespace, Name: web.Name, UID: "1", ResourceVersion: "7", Generation: 3,
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply},
			{Manager: "karmada-controller-manager", Subresource: "status", Time: &metav1.Time{}},
		},
	}
	s := &stored{
		autoscaler: &v1alpha1.FederatedHPA{ObjectMeta: meta}, rules: &v1alpha1.CronFederatedHPA{ObjectMeta: *meta.DeepCopy()},
		sizer: &v1alpha1.MultidimPodAutoscaler{ObjectMeta: *meta.DeepCopy()},
	}
	s.autoscaler.Status.DesiredReplicas = 5
	return s
}

func get[T client.Object](t *testing.T, from client.Reader, into T) T {
	t.Helper()
	if err := from.Get(t.Context(), web, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestObjectsAreShownAsObserving(t *testing.T) {
	for mode, want := range map[v1alpha1.AutoscalingMode]v1alpha1.AutoscalingMode{
		"": v1alpha1.ModeObserve, v1alpha1.ModeActive: v1alpha1.ModeObserve, v1alpha1.ModeObserve: v1alpha1.ModeObserve,
		v1alpha1.ModePaused: v1alpha1.ModePaused,
	} {
		from := beside()
		from.autoscaler.Spec.Mode, from.sizer.Spec.Mode = mode, mode
		hub := NewObserved(from)
		autoscaler := get(t, hub, &v1alpha1.FederatedHPA{})
		if got := autoscaler.Spec.Mode; got != want {
			t.Errorf("a FederatedHPA of the mode %q is shown as %q, want %q", mode, got, want)
		}
		if got := get(t, hub.Live(from), &v1alpha1.MultidimPodAutoscaler{}).Spec.Mode; got != want {
			t.Errorf("a MultidimPodAutoscaler of the mode %q is shown as %q, want %q", mode, got, want)
		}
		if fields := autoscaler.ManagedFields; len(fields) != 1 || fields[0].Manager != "kubectl" {
			t.Errorf("the status is shown to be written by others: %v", fields)
		}
		if from.autoscaler.Spec.Mode != mode || len(from.autoscaler.ManagedFields) != 2 {
			t.Error("what the hub has was changed")
		}
	}
}

// The status begins with that of the hub, and is then what was written here, whatever the hub gets meanwhile.
func TestStatusIsKept(t *testing.T) {
	from := beside()
	hub := NewObserved(from)
	object := get(t, hub, &v1alpha1.FederatedHPA{})
	if got := object.Status.DesiredReplicas; got != 5 {
		t.Errorf("it begins with %d desired replicas, want those of the hub", got)
	}
	object.Status.DesiredReplicas = 8
	if err := hub.Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	object.Status.DesiredReplicas = 9 // what was written stays as it was
	from.autoscaler.Status.DesiredReplicas, from.autoscaler.ResourceVersion = 6, "8"
	from.autoscaler.Spec.MaxReplicas = 20
	for name, reader := range map[string]client.Reader{"cached": hub, "live": hub.Live(from)} {
		shown := get(t, reader, &v1alpha1.FederatedHPA{})
		if shown.Status.DesiredReplicas != 8 || shown.ResourceVersion != "8" || shown.Spec.MaxReplicas != 20 {
			t.Errorf("%s: %d desired replicas of at most %d, version %s; want the own status of the present object", name,
				shown.Status.DesiredReplicas, shown.Spec.MaxReplicas, shown.ResourceVersion)
		}
		shown.Status.DesiredReplicas = 10 // nor does a reader change it
	}
	var list v1alpha1.FederatedHPAList
	if err := hub.List(t.Context(), &list); err != nil || list.Items[0].Status.DesiredReplicas != 8 {
		t.Errorf("listed with %d desired replicas, %v", list.Items[0].Status.DesiredReplicas, err)
	}
}

// Nothing is known of another object of the same name, or kept of one that is gone.
func TestStatusGoesWithTheObject(t *testing.T) {
	from := beside()
	hub := NewObserved(from)
	write := func() {
		object := get(t, hub, &v1alpha1.FederatedHPA{})
		object.Status.DesiredReplicas = 8
		if err := hub.Status().Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	write()
	from.autoscaler.UID = types.UID("2")
	if got := get(t, hub, &v1alpha1.FederatedHPA{}).Status.DesiredReplicas; got != 5 {
		t.Errorf("another object of the name has %d desired replicas, want those of the hub", got)
	}
	write()
	from.autoscaler = nil
	if err := hub.Get(t.Context(), web, &v1alpha1.FederatedHPA{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if n := len(hub.kept.byKey); n != 0 {
		t.Errorf("%d statuses are kept of what is gone", n)
	}
}

func TestKindsDoNotMix(t *testing.T) {
	hub := NewObserved(beside())
	rules := get(t, hub, &v1alpha1.CronFederatedHPA{})
	rules.Status.ExecutionHistories = []v1alpha1.ExecutionHistory{{RuleName: "morning"}}
	sizer := get(t, hub, &v1alpha1.MultidimPodAutoscaler{})
	sizer.Status.DesiredReplicas = 3
	for _, object := range []client.Object{rules, sizer} {
		if err := hub.Status().Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if got := get(t, hub, &v1alpha1.CronFederatedHPA{}).Status.ExecutionHistories; len(got) != 1 {
		t.Errorf("histories of the CronFederatedHPA: %v", got)
	}
	if got := get(t, hub, &v1alpha1.MultidimPodAutoscaler{}).Status.DesiredReplicas; got != 3 {
		t.Errorf("desired replicas of the MultidimPodAutoscaler: %d", got)
	}
	if got := get(t, hub, &v1alpha1.FederatedHPA{}).Status.DesiredReplicas; got != 5 {
		t.Errorf("desired replicas of the FederatedHPA: %d", got)
	}
}

func TestWritesAreRefused(t *testing.T) {
	hub, ctx := NewObserved(beside()), t.Context()
	object := get(t, hub, &v1alpha1.FederatedHPA{})
	patch := client.MergeFrom(object)
	for name, err := range map[string]error{
		"create":        hub.Create(ctx, object),
		"update":        hub.Update(ctx, object),
		"patch":         hub.Patch(ctx, object, patch),
		"apply":         hub.Apply(ctx, nil),
		"delete":        hub.Delete(ctx, object),
		"delete all":    hub.DeleteAllOf(ctx, object),
		"create status": hub.Status().Create(ctx, object, object),
		"patch status":  hub.Status().Patch(ctx, object, patch),
		"apply status":  hub.Status().Apply(ctx, nil),
	} {
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "this program only observes") {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

func TestServed(t *testing.T) {
	const path = "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/"
	hub := NewObserved(beside())
	object := get(t, hub, &v1alpha1.FederatedHPA{})
	object.Status.DesiredReplicas = 8
	if err := hub.Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"GET", path + "federatedhpas/web", 200, `"kind":"FederatedHPA"`},
		{"GET", path + "federatedhpas/web", 200, `"desiredReplicas":8`},
		{"GET", path + "federatedhpas/web", 200, `"mode":"Observe"`},
		{"GET", path + "federatedhpas/db", 404, `federatedhpas \"db\" not found`},
		{"GET", path + "cronfederatedhpas/web", 404,
			`nothing has been decided of cronfederatedhpas.autoscaling.karmada.io \"web\" yet`},
		{"GET", path + "secrets/web", 404, "page not found"},
		{"PUT", path + "federatedhpas/web", 405, "Method Not Allowed"},
	} {
		request := httptest.NewRequest(tc.method, tc.path, nil)
		answer := httptest.NewRecorder()
		hub.Handler().ServeHTTP(answer, request)
		if answer.Code != tc.code || !strings.Contains(answer.Body.String(), tc.says) {
			t.Errorf("%s %s: %d %s, want %d, %s", tc.method, tc.path, answer.Code, answer.Body, tc.code, tc.says)
		}
		if tc.code == http.StatusOK {
			var got v1alpha1.FederatedHPA
			if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(get(t, hub, &v1alpha1.FederatedHPA{}).Status, got.Status); diff != "" {
				t.Errorf("status (-kept +served):\n%s", diff)
			}
		}
	}
}

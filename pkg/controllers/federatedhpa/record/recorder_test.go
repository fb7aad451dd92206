// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
)

var errHub = errors.New("the hub is not well")

// hubWith is a hub that stores the object, and the object as it was read.
func hubWith(t *testing.T, object *v1alpha1.FederatedHPA, faults interceptor.Funcs) (client.WithWatch, *v1alpha1.FederatedHPA) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hub := hubtest.NewBuilder(scheme).WithObjects(object).WithStatusSubresource(object).Build()
	return interceptor.NewClient(hub, faults), stored(t, hub, object)
}

func stored(t *testing.T, hub client.Client, object *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA {
	t.Helper()
	var now v1alpha1.FederatedHPA
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(object), &now); err != nil {
		t.Fatal(err)
	}
	return &now
}

func web() *v1alpha1.FederatedHPA {
	return &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Finalizers: []string{"theirs"}}}
}

func TestStatusIsWrittenAndKnown(t *testing.T) {
	hub, object := hubWith(t, web(), interceptor.Funcs{})
	before := object.DeepCopy()
	r := New(hub, events.NewFakeRecorder(1))
	if err := r.Status(t.Context(), object, "Scale", v1alpha1.FederatedHPAStatus{DesiredReplicas: 7}); err != nil {
		t.Fatal(err)
	}
	now := stored(t, hub, object)
	if now.Status.DesiredReplicas != 7 || object.Status.DesiredReplicas != 0 || object.ResourceVersion != now.ResourceVersion {
		t.Errorf("stored: %d at %s; the object: %d at %s", now.Status.DesiredReplicas, now.ResourceVersion, object.Status.DesiredReplicas,
			object.ResourceVersion)
	}
	if !r.Stale(before) || r.Stale(object) {
		t.Errorf("stale are the object as it was: %v, want true; as it is: %v, want false", r.Stale(before), r.Stale(object))
	}
	if err := r.Status(t.Context(), before, "Scale", v1alpha1.FederatedHPAStatus{}); !apierrors.IsConflict(err) {
		t.Errorf("writing over a newer version: %v, want a conflict", err)
	}
}

func TestStatusThatCannotBeWrittenIsHeardOf(t *testing.T) {
	hub, object := hubWith(t, web(), interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errHub
		},
	})
	heard := events.NewFakeRecorder(1)
	if err := New(hub, heard).Status(t.Context(), object, "Scale", v1alpha1.FederatedHPAStatus{}); !errors.Is(err, errHub) {
		t.Errorf("error: %v, want %v", err, errHub)
	}
	if got := <-heard.Events; !strings.Contains(got, "Warning "+EventFailedUpdateStatus+" "+errHub.Error()) {
		t.Errorf("Event: %q", got)
	}
}

func TestFinalizer(t *testing.T) {
	patches, fails := 0, false
	hub, object := hubWith(t, web(), interceptor.Funcs{
		Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if patches++; fails {
				return errHub
			}
			return hub.Patch(ctx, object, patch, options...)
		},
	})
	r := New(hub, nil)
	steps := []struct {
		what  string
		do    func(context.Context, *v1alpha1.FederatedHPA) error
		fails bool
		bound bool
		sent  int
	}{
		{"bind, refused", r.Bind, true, false, 1},
		{"bind", r.Bind, false, true, 2},
		{"bind again", r.Bind, false, true, 2},
		{"unbind, refused", r.Unbind, true, true, 3},
		{"unbind", r.Unbind, false, false, 4},
	}
	for _, s := range steps {
		fails = s.fails
		if err := s.do(t.Context(), object); (err != nil) != s.fails {
			t.Fatalf("%s: %v", s.what, err)
		}
		now := stored(t, hub, object)
		if Bound(object) != s.bound || Bound(now) != s.bound || now.Finalizers[0] != "theirs" || object.ResourceVersion != now.ResourceVersion ||
			patches != s.sent {
			t.Errorf("%s: the object has %v at %s, the hub %v at %s, after %d requests", s.what,
				object.Finalizers, object.ResourceVersion, now.Finalizers, now.ResourceVersion, patches)
		}
	}
	old := object.DeepCopy()
	if err := r.Bind(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := r.Bind(t.Context(), old); !apierrors.IsConflict(err) || Bound(old) {
		t.Errorf("binding an older version: %v, want a conflict; bound: %v", err, Bound(old))
	}
}

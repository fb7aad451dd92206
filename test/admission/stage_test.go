// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/admission/admissiontest"
)

// stage has what each case finds on the hub: objects from a time without
// webhook, in a namespace of the case.
type stage struct {
	client     client
	namespaces map[*admissiontest.Case]string
}

// setAll stores what the cases find while the kinds have no schema.
func (s stage) setAll(t *testing.T, e *env, cases []*admissiontest.Case) {
	t.Helper()
	const open = `[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema","value":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}]`
	for _, crd := range []string{"federatedhpas", "cronfederatedhpas", "multidimpodautoscalers"} {
		e.kubectl(t, "patch", "crd", crd+".autoscaling.karmada.io", "--type=json", "-p", open)
	}
	s.awaitSchema(t, false)
	for _, c := range cases {
		s.set(t, c)
	}
	if err := e.InstallKinds(t.Context(), e.Hub()); err != nil {
		t.Fatal(err)
	}
	s.awaitSchema(t, true)
}

// awaitSchema returns when all kinds are judged by a schema, or by none.
func (s stage) awaitSchema(t *testing.T, want bool) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		for _, kind := range []string{"FederatedHPA", "CronFederatedHPA", "MultidimPodAutoscaler"} {
			bad := map[string]any{"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": kind, "metadata": map[string]any{"name": "bad"},
				"spec": "none"}
			if _, err := s.client.try(ctx, "default", bad); (err != nil) != want {
				return fmt.Errorf("a faulty %s: %w", kind, err)
			}
		}
		return nil
	})
}

// set stores what the case finds.
func (s stage) set(t *testing.T, c *admissiontest.Case) {
	t.Helper()
	objects := c.Beside
	if c.Stored != nil {
		objects = append([]admissiontest.Manifest{c.Stored}, objects...)
	}
	if len(objects) == 0 {
		s.namespaces[c] = "default"
		if metadata, _ := c.Manifest["metadata"].(map[string]any); metadata["namespace"] != nil {
			s.namespaces[c] = metadata["namespace"].(string)
		}
		return
	}
	name := fmt.Sprintf("case-%d", len(s.namespaces))
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name}}}
	namespaces := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if _, err := namespaces.Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.namespaces[c] = name
	for _, m := range objects {
		if err := s.put(t, name, m); err != nil {
			t.Errorf("%s/%s: %v", c.File, c.Name, err)
		}
	}
}

// put stores an object. One that has a time of deletion is deleted then, and
// waits for somebody's finalizer.
func (s stage) put(t *testing.T, namespace string, m admissiontest.Manifest) error {
	t.Helper()
	object := within(t, m, namespace)
	deleted := object.GetDeletionTimestamp() != nil
	if deleted {
		object.SetDeletionTimestamp(nil)
		object.SetFinalizers([]string{"example.com/wait"})
	}
	s.own(t, object)
	of := s.client.of(namespace, object.Object)
	if _, err := of.Create(t.Context(), object, metav1.CreateOptions{}); err != nil || !deleted {
		return err
	}
	return of.Delete(t.Context(), object.GetName(), metav1.DeleteOptions{})
}

// own has an object's owner be there: what an owner leaves behind is deleted. It governs another workload.
func (s stage) own(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	owners := object.GetOwnerReferences()
	for i := range owners {
		owner := map[string]any{"apiVersion": owners[i].APIVersion, "kind": owners[i].Kind, "metadata": map[string]any{"name": owners[i].Name},
			"spec": map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "elsewhere"}}}
		of := s.client.of(object.GetNamespace(), owner)
		made, err := of.Create(t.Context(), &unstructured.Unstructured{Object: owner}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			made, err = of.Get(t.Context(), owners[i].Name, metav1.GetOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		owners[i].UID = made.GetUID()
	}
	object.SetOwnerReferences(owners)
}

// play has the hub answer the case.
func (s stage) play(t *testing.T, c *admissiontest.Case) (said, error) {
	t.Helper()
	namespace := s.namespaces[c]
	object := within(t, c.Manifest, namespace)
	if c.Stored == nil {
		answer, err := s.client.try(t.Context(), namespace, object.Object)
		if apierrors.IsAlreadyExists(err) { // admitted, and then found beside itself
			err = nil
		}
		return answer, err
	}
	now, err := s.client.of(namespace, object.Object).Get(t.Context(), object.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object.SetResourceVersion(now.GetResourceVersion())
	return s.client.tryUpdate(t.Context(), namespace, object.Object)
}

// within is a manifest in a namespace, with the numbers that the API's library has.
func within(t *testing.T, m admissiontest.Manifest, namespace string) *unstructured.Unstructured {
	t.Helper()
	there, err := m.With(map[string]any{"metadata.namespace": namespace})
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(written(t, there)); err != nil {
		t.Fatal(err)
	}
	return object
}

func written(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

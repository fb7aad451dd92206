// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// writer is the identity that deploy/member-sizes gives its rights to. It has no others here: deploy/member-write is not applied.
type writer struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
}

func (m *member) writer(t *testing.T) writer {
	t.Helper()
	config := rest.CopyConfig(m.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:fleetscale-member:fleetscale-write",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:fleetscale-member", "system:authenticated"},
	}
	return writer{kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)}
}

// of are the policies, bindings and webhooks of the cluster.
func (w writer) of(kind string) dynamic.NamespaceableResourceInterface {
	return w.dynamic.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: kind})
}

// request is one that the identity sends.
type request struct {
	right string // verb and resource
	send  func(ctx context.Context) error
}

// Each right of the role has its use, and each use succeeds.
func TestTheIdentityMay(t *testing.T) {
	m := newMember(t)
	namespace, w := m.namespace(t, "may"), m.writer(t)
	pod := m.create(t, namespace, podNamed("shop"))
	sizes := w.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource(v1alpha1.PodSizesResource)).Namespace(namespace)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "fleetscale.io/v1alpha1", "kind": "PodSizes",
		"metadata": map[string]any{"name": "fleetscale"}}}
	get := func(resource string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.of(resource).Get(ctx, "sizes.fleetscale.io", metav1.GetOptions{})
			return err
		}
	}
	requests := []request{
		{"create podsizes", func(ctx context.Context) error {
			_, err := sizes.Create(ctx, object, metav1.CreateOptions{})
			return err
		}},
		{"get podsizes", func(ctx context.Context) error {
			_, err := sizes.Get(ctx, "fleetscale", metav1.GetOptions{})
			return err
		}},
		{"list podsizes", func(ctx context.Context) error {
			_, err := sizes.List(ctx, metav1.ListOptions{})
			return err
		}},
		{"watch podsizes", func(ctx context.Context) error {
			watch, err := sizes.Watch(ctx, metav1.ListOptions{})
			if err == nil {
				watch.Stop()
			}
			return err
		}},
		{"patch podsizes", func(ctx context.Context) error {
			_, err := sizes.Patch(ctx, "fleetscale", types.MergePatchType, []byte(`{"workloads": []}`), metav1.PatchOptions{})
			return err
		}},
		{"delete podsizes", func(ctx context.Context) error { return sizes.Delete(ctx, "fleetscale", metav1.DeleteOptions{}) }},
		{"get mutatingadmissionpolicies", get("mutatingadmissionpolicies")},
		{"get mutatingadmissionpolicybindings", get("mutatingadmissionpolicybindings")},
		{"patch pods/resize", func(ctx context.Context) error {
			return w.patchPod(ctx, pod, `{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "627m"}}}]}}`, "resize")
		}},
		{"create pods/eviction", func(ctx context.Context) error {
			return w.client.PolicyV1().Evictions(namespace).Evict(ctx, &policyv1.Eviction{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod.Name}})
		}},
	}
	granted := rightsOf(t, m.Deploy("member-sizes/clusterrole.yaml"))
	for _, r := range requests {
		if err := r.send(t.Context()); err != nil {
			t.Errorf("%s: %v", r.right, err)
		}
		i := slices.Index(granted, r.right)
		if i < 0 {
			t.Errorf("%s is not in the role", r.right)
			continue
		}
		granted = slices.Delete(granted, i, i+1)
	}
	if len(granted) > 0 {
		t.Errorf("nothing uses the rights to %v", granted)
	}
}

// rightsOf lists what a file's ClusterRole grants, as verb and resource.
func rightsOf(t *testing.T, file string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	role, _, _ := strings.Cut(string(text), "\n---\n")
	var parsed rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(role), &parsed); err != nil {
		t.Fatal(err)
	}
	for _, rule := range parsed.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				all = append(all, verb+" "+resource)
			}
		}
	}
	return all
}

// create makes a Pod for good.
func (m *member) create(t *testing.T, namespace string, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	made, err := m.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (w writer) patchPod(ctx context.Context, pod *corev1.Pod, patch string, subresources ...string) error {
	_, err := w.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{},
		subresources...)
	return err
}

// What else the identity might try is forbidden; and what it may send to resize a Pod changes nothing but resources.
func TestTheIdentityMayNot(t *testing.T) {
	m := newMember(t)
	namespace, w := m.namespace(t, "may-not"), m.writer(t)
	pod := m.create(t, namespace, podNamed("shop"))
	policy := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
			"metadata": map[string]any{"name": "sizes.fleetscale.io"}, "spec": map[string]any{}}}
	}
	const image = `{"spec": {"containers": [{"name": "app", "image": "example.com/other"}]}}`
	const labels = `{"metadata": {"labels": {"app": "other"}}}`
	create := func(resource, kind string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.of(resource).Create(ctx, policy(kind), metav1.CreateOptions{})
			return err
		}
	}
	change := func(resource string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.of(resource).Patch(ctx, "sizes.fleetscale.io", types.MergePatchType, []byte(`{"spec": {}}`), metav1.PatchOptions{})
			return err
		}
	}
	requests := []request{
		{"create a policy", create("mutatingadmissionpolicies", "MutatingAdmissionPolicy")},
		{"create a binding", create("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding")},
		{"create a validating policy", create("validatingadmissionpolicies", "ValidatingAdmissionPolicy")},
		{"create a webhook", create("mutatingwebhookconfigurations", "MutatingWebhookConfiguration")},
		{"change the policy", change("mutatingadmissionpolicies")},
		{"change the binding", change("mutatingadmissionpolicybindings")},
		{"delete the policy", func(ctx context.Context) error {
			return w.of("mutatingadmissionpolicies").Delete(ctx, "sizes.fleetscale.io", metav1.DeleteOptions{})
		}},
		{"read another policy", func(ctx context.Context) error {
			_, err := w.of("mutatingadmissionpolicies").Get(ctx, "other", metav1.GetOptions{})
			return err
		}},
		{"list policies", func(ctx context.Context) error {
			_, err := w.of("mutatingadmissionpolicies").List(ctx, metav1.ListOptions{})
			return err
		}},
		{"read the kind", func(ctx context.Context) error {
			kinds := w.dynamic.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
			_, err := kinds.Get(ctx, "podsizes.fleetscale.io", metav1.GetOptions{})
			return err
		}},
		{"change an image", func(ctx context.Context) error { return w.patchPod(ctx, pod, image) }},
		{"change labels", func(ctx context.Context) error { return w.patchPod(ctx, pod, labels) }},
		{"change a status", func(ctx context.Context) error { return w.patchPod(ctx, pod, labels, "status") }},
		{"read a Pod", func(ctx context.Context) error {
			_, err := w.client.CoreV1().Pods(namespace).Get(ctx, pod.Name, metav1.GetOptions{})
			return err
		}},
		{"delete a Pod", func(ctx context.Context) error {
			return w.client.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
		}},
		{"create a Pod", func(ctx context.Context) error {
			_, err := w.client.CoreV1().Pods(namespace).Create(ctx, podNamed("other"), metav1.CreateOptions{})
			return err
		}},
		{"read Secrets", func(ctx context.Context) error {
			_, err := w.client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
			return err
		}},
	}
	for _, r := range requests {
		if err := r.send(t.Context()); !apierrors.IsForbidden(err) {
			t.Errorf("may %s: %v", r.right, err)
		}
	}
	for _, patch := range []string{image, labels, `{"metadata": {"annotations": {"a": "b"}, "finalizers": ["example.com/f"]}}`} {
		if err := w.patchPod(t.Context(), pod, patch, "resize"); err != nil && !apierrors.IsInvalid(err) {
			t.Errorf("resizing with %s: %v", patch, err)
		}
	}
	after, err := m.client.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.ResourceVersion, pod.ManagedFields, after.ResourceVersion, after.ManagedFields = "", nil, "", nil
	if diff := cmp.Diff(pod, after); diff != "" {
		t.Errorf("the Pod changed (-before +after):\n%s", diff)
	}
}

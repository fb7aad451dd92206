// SPDX-License-Identifier: Apache-2.0

// Package podsizes_test holds deploy/member-sizes to what it promises, on a real
// kube-apiserver: what new Pods are created with, that none is refused for its
// size, and what the identity that writes sizes may do. Pods are only tried, unless
// a test says otherwise: the API server answers as if, and stores nothing.
package podsizes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// patience is ours, with anything: machines may be busy.
const patience = time.Minute

// member is the cluster that all tests share: a kube-apiserver with deploy/member-sizes.
type member struct {
	*fixture.Fleet
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
}

// shared is one member for all tests.
var shared = fixture.Shared[*member]{Name: "podsizes", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func newMember(t testing.TB) *member {
	t.Helper()
	return shared.Of(t)
}

func setUp(ctx context.Context, dir string) (*member, error) {
	m := &member{}
	return m, fixture.Raise(ctx, dir, lab.Options{}, nil, m.raise) // the lab's hub is the least that is a cluster
}

func (m *member) raise(ctx context.Context, f *fixture.Fleet, _ map[string]string) (err error) {
	m.Fleet = f
	if m.config, err = m.Hub().RESTConfig(); err != nil {
		return err
	}
	m.config.QPS = -1
	if m.client, err = kubernetes.NewForConfig(m.config); err != nil {
		return err
	}
	if m.dynamic, err = dynamic.NewForConfig(m.config); err != nil {
		return err
	}
	return m.install(ctx)
}

// install applies deploy/member-sizes, and returns when PodSizes are served.
func (m *member) install(ctx context.Context) error {
	if _, err := m.Ask(ctx, "apply", "-k", m.Deploy("member-sizes")); err != nil {
		return err
	}
	return fixture.Await(ctx, patience, func(ctx context.Context) error {
		_, err := m.sizesIn("default").List(ctx, metav1.ListOptions{})
		return err
	})
}

func (m *member) sizesIn(namespace string) dynamic.ResourceInterface {
	return m.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource(v1alpha1.PodSizesResource)).Namespace(namespace)
}

// namespace makes one for the test. Nobody waits for its end.
func (m *member) namespace(t testing.TB, name string) string {
	t.Helper()
	namespaces := m.client.CoreV1().Namespaces()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := namespaces.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := namespaces.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// probe is what tells that a PodSizes has its effect: the last of its workloads.
func probe() v1alpha1.SizedWorkload {
	return v1alpha1.SizedWorkload{
		Name: "probe", MatchLabels: map[string]string{"probe": "yes"},
		Containers: []v1alpha1.SizedContainer{{Name: "app", Requests: v1alpha1.SizedResources{"cpu": "1m"}}},
	}
}

// size gives the new Pods of a namespace their sizes, in place of those that it had, and returns when that has its effect: the
// policy sees a change a moment later.
func (m *member) size(t testing.TB, namespace string, workloads ...v1alpha1.SizedWorkload) {
	t.Helper()
	stored, err := m.put(t.Context(), namespace, append(workloads, probe())...)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("probe@%d", stored.GetGeneration())
	m.await(t, func(ctx context.Context) error {
		pod, err := m.try(ctx, namespace, podOf(probe().MatchLabels, corev1.Container{Name: "app"}))
		if err != nil {
			return err
		}
		if got := pod.Annotations[v1alpha1.SizedByAnnotation]; got != want {
			return fmt.Errorf("sized by %q, want %q", got, want)
		}
		return nil
	})
}

// put stores a PodSizes.
func (m *member) put(ctx context.Context, namespace string, workloads ...v1alpha1.SizedWorkload) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.PodSizes{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.PodSizesKind},
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PodSizesName},
		Workloads:  workloads,
	})
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: fields}
	before, err := m.sizesIn(namespace).Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return m.sizesIn(namespace).Create(ctx, object, metav1.CreateOptions{})
	}
	if err != nil {
		return nil, err
	}
	object.SetResourceVersion(before.GetResourceVersion())
	return m.sizesIn(namespace).Update(ctx, object, metav1.UpdateOptions{})
}

func (m *member) await(t testing.TB, check func(context.Context) error) {
	t.Helper()
	if err := fixture.Await(t.Context(), patience, check); err != nil {
		t.Fatal(err)
	}
}

// try asks for a Pod, and makes none.
func (m *member) try(ctx context.Context, namespace string, pod *corev1.Pod) (*corev1.Pod, error) {
	return m.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// podOf is a Pod that an API server accepts, if it accepts the containers' resources.
func podOf(labels map[string]string, containers ...corev1.Container) *corev1.Pod {
	for i := range containers {
		containers[i].Image = "example.com/app"
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Labels: labels},
		Spec:       corev1.PodSpec{Containers: containers},
	}
}

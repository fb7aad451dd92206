// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// The API server applies the defaults of LimitRanges before the policy, and its bounds after: a default bounds a size, and what
// was legal when a size was written, and is no longer, is refused until the size is deleted. The policy cannot read LimitRanges,
// nor can it read quotas.
func TestSizesBesideLimitRanges(t *testing.T) {
	m := newMember(t)
	amounts := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	limits := func(cpu string) []v1alpha1.SizedContainer {
		request, limit := v1alpha1.SizedResources{"cpu": "100m"}, v1alpha1.SizedResources{"cpu": cpu}
		return []v1alpha1.SizedContainer{{Name: "app", Requests: request, Limits: limit}}
	}
	requests := func(cpu string) []v1alpha1.SizedContainer {
		return []v1alpha1.SizedContainer{{Name: "app", Requests: v1alpha1.SizedResources{"cpu": cpu}}}
	}
	own := corev1.ResourceRequirements{Requests: amounts("500m"), Limits: amounts("1")}
	tests := map[string]struct {
		bounds  corev1.LimitRangeItem
		own     corev1.ResourceRequirements
		sizes   []v1alpha1.SizedContainer
		want    string // request and limit of cpu
		refused string
	}{
		"a default limit bounds a request": {
			bounds: corev1.LimitRangeItem{Default: amounts("500m")}, sizes: requests("627m"), want: "500m 500m"},
		"a largest limit is the default, and bounds a request": {
			bounds: corev1.LimitRangeItem{Max: amounts("500m")}, sizes: requests("627m"), want: "500m 500m"},
		"a default request gives way": {
			bounds: corev1.LimitRangeItem{Default: amounts("2"), DefaultRequest: amounts("100m")}, sizes: requests("627m"), want: "627m 2"},
		"a smallest request that is kept": {
			bounds: corev1.LimitRangeItem{Min: amounts("500m")}, own: own, sizes: requests("500m"), want: "500m 1"},
		"a ratio that is kept": {
			bounds: corev1.LimitRangeItem{MaxLimitRequestRatio: amounts("2")}, own: own, sizes: requests("627m"), want: "627m 1"},
		"a limit beyond the largest": {
			bounds: corev1.LimitRangeItem{Max: amounts("1")}, own: own, sizes: limits("2"), refused: "maximum cpu usage per Container is 1"},
		"a request below the smallest": {
			bounds: corev1.LimitRangeItem{Min: amounts("500m")}, own: own, sizes: requests("100m"),
			refused: "minimum cpu usage per Container is 500m"},
		"a request that the ratio forbids": {
			bounds: corev1.LimitRangeItem{MaxLimitRequestRatio: amounts("2")}, own: own, sizes: requests("100m"),
			refused: "cpu max limit to request ratio per Container is 2"},
	}
	i := 0
	for name, tc := range tests {
		i++
		namespace := m.namespace(t, fmt.Sprintf("ranged-%d", i))
		t.Run(name, func(t *testing.T) {
			// What takes part in no case shows when the API server has the LimitRange.
			tc.bounds.Type = corev1.LimitTypeContainer
			tc.bounds.DefaultRequest = withDisk(tc.bounds.DefaultRequest)
			tc.bounds.Default = withDisk(tc.bounds.Default)
			if _, err := m.client.CoreV1().LimitRanges(namespace).Create(t.Context(), &corev1.LimitRange{
				ObjectMeta: metav1.ObjectMeta{Name: "range"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{tc.bounds}},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			m.awaitRange(t, namespace)
			pod := podOf(map[string]string{"app": "shop"}, corev1.Container{Name: "app", Resources: tc.own})
			if _, err := m.try(t.Context(), namespace, pod); err != nil {
				t.Fatalf("refused without a size: %v", err)
			}
			m.checkBeside(t, namespace, pod, tc.sizes, tc.want, tc.refused)
		})
	}
}

func withDisk(list corev1.ResourceList) corev1.ResourceList {
	with := corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Gi")}
	for name, amount := range list {
		with[name] = amount
	}
	return with
}

// checkBeside sizes the workload shop: its Pod gets what is wanted, or is refused until the size is deleted.
func (m *member) checkBeside(t *testing.T, namespace string, pod *corev1.Pod, sizes []v1alpha1.SizedContainer, want, refused string) {
	t.Helper()
	shop := v1alpha1.SizedWorkload{Name: "shop", MatchLabels: map[string]string{"app": "shop"}, Containers: sizes}
	stored, err := m.put(t.Context(), namespace, shop)
	if err != nil {
		t.Fatal(err)
	}
	if refused != "" {
		m.await(t, func(ctx context.Context) error {
			if _, err := m.try(ctx, namespace, pod); err == nil || !strings.Contains(err.Error(), refused) {
				return fmt.Errorf("refused by %w, want %s", err, refused)
			}
			return nil
		})
		if err := m.sizesIn(namespace).Delete(t.Context(), stored.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		m.await(t, func(ctx context.Context) error {
			_, err := m.try(ctx, namespace, pod)
			return err
		})
		return
	}
	m.await(t, func(ctx context.Context) error {
		made, err := m.try(ctx, namespace, pod)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		if made.Annotations[v1alpha1.SizedByAnnotation] == "" {
			return errors.New("not sized yet")
		}
		resources := made.Spec.Containers[0].Resources
		if got := resources.Requests.Cpu().String() + " " + resources.Limits.Cpu().String(); got != want {
			t.Errorf("cpu is %s, want %s", got, want)
		}
		return nil
	})
}

// other is somebody else's policy that sizes Pods too, whenever it is asked: as a VerticalPodAutoscaler does.
const other = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: %[2]s
  matchConstraints:
    namespaceSelector: {matchLabels: {other: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{containers: [Object.spec.containers{name: "app", resources: Object.spec.containers.resources{
        requests: {"cpu": "50m"}, limits: {"cpu": "200m"}}}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`

// Beside somebody else who sizes the same Pod, before or after, once or again, it is created: no request is above its limit. Who
// is asked last has his way.
func TestSizesBesideAnotherSizer(t *testing.T) {
	m := newMember(t)
	for _, name := range []string{"a-before", "z-after"} {
		for _, again := range []string{"Never", "IfNeeded"} {
			name := name + "-" + strings.ToLower(again)
			t.Run(name, func(t *testing.T) {
				namespace := m.namespace(t, name)
				m.size(t, namespace, named("shop", v1alpha1.SizedResources{"cpu": "627m", "memory": "64Mi"}))
				if _, err := m.Ask(t.Context(), "label", "namespace", namespace, "other="+name); err != nil {
					t.Fatal(err)
				}
				if _, err := m.Feed(t.Context(), fmt.Sprintf(other, name, again), "apply", "-f", "-"); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					for _, kind := range []string{"mutatingadmissionpolicy", "mutatingadmissionpolicybinding"} {
						if _, err := m.Ask(context.WithoutCancel(t.Context()), "delete", kind, name); err != nil {
							t.Error(err)
						}
					}
				})
				m.await(t, func(ctx context.Context) error {
					pod, err := m.try(ctx, namespace, podNamed("shop"))
					if err != nil {
						t.Fatalf("refused: %v", err)
					}
					resources := pod.Spec.Containers[0].Resources
					if resources.Limits.Cpu().String() != "200m" {
						return errors.New("not sized by the other yet")
					}
					checkAnnotation(t, pod, "shop@")
					if cpu := resources.Requests.Cpu().String(); cpu != "200m" && cpu != "50m" {
						t.Errorf("requests %s of cpu", cpu)
					}
					if memory := resources.Requests.Memory().String(); memory != "64Mi" {
						t.Errorf("requests %s of memory", memory)
					}
					return nil
				})
			})
		}
	}
}

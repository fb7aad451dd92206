// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// named is an entry for the Pods of a workload of this name, whose container app gets these requests.
func named(name string, requests v1alpha1.SizedResources) v1alpha1.SizedWorkload {
	return v1alpha1.SizedWorkload{
		Name: name, MatchLabels: map[string]string{"app": name},
		Containers: []v1alpha1.SizedContainer{{Name: "app", Requests: requests}},
	}
}

func podNamed(name string) *corev1.Pod {
	return podOf(map[string]string{"app": name}, corev1.Container{Name: "app"})
}

func many(n int) (all []v1alpha1.SizedWorkload) {
	for i := range n {
		all = append(all, named(fmt.Sprintf("w%d", i), v1alpha1.SizedResources{"cpu": "627m"}))
	}
	return all
}

// As many workloads as a PodSizes may hold have their effect, the last one too, and one more is refused.
func TestMostSizedWorkloads(t *testing.T) {
	m := newMember(t)
	namespace := m.namespace(t, "most")
	m.size(t, namespace, many(v1alpha1.MostSizedWorkloads-1)...)
	_, err := m.put(t.Context(), namespace, many(v1alpha1.MostSizedWorkloads+1)...)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "must have at most 200 items") {
		t.Errorf("one more: %v", err)
	}
}

// The API server bounds what a policy may cost, and a policy that costs more has no effect. The largest entry among the most that
// match in all labels but the last costs less.
func TestLargestSizesHaveTheirEffect(t *testing.T) {
	m := newMember(t)
	namespace := m.namespace(t, "largest")
	labels := map[string]string{}
	for i := range 63 {
		labels[fmt.Sprintf("example.com/%s-%d", strings.Repeat("l", 50), i)] = strings.Repeat("v", 63)
	}
	match := func(last string) map[string]string {
		all := map[string]string{"zz": last}
		for name, value := range labels {
			all[name] = value
		}
		return all
	}
	var containers []corev1.Container
	largest := v1alpha1.SizedWorkload{Name: "largest", MatchLabels: match("last")}
	amounts := v1alpha1.SizedResources{"cpu": "999999999m", "memory": "764046746"}
	for i := range 64 {
		name := fmt.Sprintf("c%d", i)
		containers = append(containers, corev1.Container{Name: name})
		largest.Containers = append(largest.Containers, v1alpha1.SizedContainer{Name: name, Requests: amounts, Limits: amounts})
	}
	all := many(98)
	for i := range all {
		all[i].MatchLabels = match(fmt.Sprintf("not-%d", i))
	}
	m.size(t, namespace, append(all, largest)...)
	pod, err := m.try(t.Context(), namespace, podOf(match("last"), containers...))
	if err != nil {
		t.Fatal(err)
	}
	checkAnnotation(t, pod, "largest@")
	for _, c := range pod.Spec.Containers {
		if c.Resources.Requests.Cpu().String() != "999999999m" || c.Resources.Limits.Memory().Value() != 764046746 {
			t.Errorf("%s has %v", c.Name, c.Resources)
		}
	}
}

// A Pod that several entries name gets the size of the first, even where that has no container of it.
func TestTheFirstEntryHolds(t *testing.T) {
	m := newMember(t)
	namespace := m.namespace(t, "first")
	second := named("second", v1alpha1.SizedResources{"cpu": "2"})
	second.MatchLabels = map[string]string{"tier": "front"}
	m.size(t, namespace, named("first", v1alpha1.SizedResources{"cpu": "1"}), second)
	for _, container := range []string{"app", "other"} {
		pod, err := m.try(t.Context(), namespace, podOf(map[string]string{"app": "first", "tier": "front"}, corev1.Container{Name: container}))
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]string{"app": "first@"}[container]
		checkAnnotation(t, pod, by)
	}
}

// Sizes are those of one namespace, and kube-system is not sized. Nor is a Pod that has no room for one more annotation: it would
// be refused.
func TestPodsThatAreLeftAlone(t *testing.T) {
	m := newMember(t)
	sized, other := m.namespace(t, "alone"), m.namespace(t, "alone-other")
	entry := named("shop", v1alpha1.SizedResources{"cpu": "627m"})
	if _, err := m.put(t.Context(), metav1.NamespaceSystem, entry); err != nil {
		t.Fatal(err)
	}
	m.size(t, other, named("elsewhere", v1alpha1.SizedResources{"cpu": "1"}))
	m.size(t, sized, entry) // the policy sees changes in their order
	full := podNamed("shop")
	full.Annotations = map[string]string{"note": strings.Repeat("x", 256<<10-len("note"))}
	wide := podNamed("shop") // fewer characters than bytes
	wide.Annotations = map[string]string{"note": strings.Repeat("ä", 128<<10-len("note")/2)}
	spacious := podNamed("shop")
	spacious.Annotations = map[string]string{"note": strings.Repeat("x", 254<<10)}
	tests := map[string]struct {
		namespace string
		pod       *corev1.Pod
		by        string
	}{
		"sized":                           {sized, podNamed("shop"), "shop@"},
		"of another namespace":            {other, podNamed("shop"), ""},
		"of kube-system":                  {metav1.NamespaceSystem, podNamed("shop"), ""},
		"full of annotations":             {sized, full, ""},
		"full of annotations in any text": {sized, wide, ""},
		"with room for an annotation":     {sized, spacious, "shop@"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod, err := m.try(t.Context(), tc.namespace, tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			checkAnnotation(t, pod, tc.by)
		})
	}
}

// A policy whose kind is gone lets Pods pass, and has its effect again when it is back.
func TestKindIsDeletedUnderThePolicy(t *testing.T) {
	m := newMember(t)
	namespace := m.namespace(t, "gone")
	entry := named("shop", v1alpha1.SizedResources{"cpu": "627m"})
	m.size(t, namespace, entry)
	if _, err := m.Ask(t.Context(), "delete", "crd", "podsizes.fleetscale.io"); err != nil {
		t.Fatal(err)
	}
	passed := 0
	m.await(t, func(ctx context.Context) error {
		for range 10 {
			pod, err := m.try(ctx, namespace, podNamed("shop"))
			if err != nil {
				t.Fatalf("refused after %d: %v", passed, err)
			}
			if passed++; pod.Annotations[v1alpha1.SizedByAnnotation] != "" {
				return errors.New("sized still")
			}
		}
		return nil
	})
	if err := m.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.size(t, namespace, entry)
}

// What sizes cost those who create Pods is reported, not judged: machines are different.
func TestReportLatency(t *testing.T) {
	m := newMember(t)
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	places := []struct {
		name    string
		entries int
		pod     *corev1.Pod
	}{
		{"no PodSizes", 0, podNamed("w0")},
		{"10 entries, the last", 10, podNamed("w9")},
		{"10 entries, none", 10, podNamed("none")},
		{"199 entries, the last", 199, podNamed("w198")},
	}
	took := make([][]time.Duration, len(places))
	for i, p := range places {
		namespace := m.namespace(t, fmt.Sprintf("latency-%d", i))
		if p.entries > 0 {
			m.size(t, namespace, many(p.entries)...)
		}
	}
	for range rounds {
		for i, p := range places {
			begin := time.Now()
			if _, err := m.try(t.Context(), fmt.Sprintf("latency-%d", i), p.pod); err != nil {
				t.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begin))
		}
	}
	for i, p := range places {
		slices.Sort(took[i])
		t.Logf("a Pod is tried in %v (median), %v (the tenth): %s", took[i][rounds/2].Round(100*time.Microsecond),
			took[i][rounds/10].Round(100*time.Microsecond), p.name)
	}
}

// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// sizing is one case of testdata/cases.yaml.
type sizing struct {
	// Name tells it from others.
	Name string `json:"name"`
	// Sizes are those of the Pod's workload.
	Sizes []v1alpha1.SizedContainer `json:"sizes"`
	// Also are labels of the workload beside the case's own.
	Also map[string]string `json:"also"`
	// Pod has the label of the case, unless it is written with none.
	Pod corev1.Pod `json:"pod"`
	// Want are the resources of containers that are sized; others are as without sizes. Absent: the Pod is not sized.
	Want map[string]corev1.ResourceRequirements `json:"want"`
	// Class is the Pod's then.
	Class corev1.PodQOSClass `json:"class"`
}

func sizings(t *testing.T, file string) []sizing {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []sizing
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		s := &all[i]
		s.Pod.GenerateName = "pod-"
		for _, containers := range [][]corev1.Container{s.Pod.Spec.Containers, s.Pod.Spec.InitContainers} {
			for j := range containers {
				containers[j].Image = "example.com/app"
			}
		}
	}
	return all
}

// workload is the entry of the case, which names its Pod.
func (s sizing) workload(i int) v1alpha1.SizedWorkload {
	return v1alpha1.SizedWorkload{
		Name:        fmt.Sprintf("case-%d", i),
		MatchLabels: labels.Merge(s.Also, map[string]string{"case": strconv.Itoa(i)}),
		Containers:  s.Sizes,
	}
}

// What becomes of Pods, by what they are and what their workload's size is.
func TestPodsAreSized(t *testing.T) {
	m := newMember(t)
	sized, bare := m.namespace(t, "sized"), m.namespace(t, "sized-bare")
	all := sizings(t, "testdata/cases.yaml")
	var workloads []v1alpha1.SizedWorkload
	for i, s := range all {
		workloads = append(workloads, s.workload(i))
	}
	m.size(t, sized, workloads...)
	for i, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			pod := s.Pod.DeepCopy()
			if pod.Labels == nil || len(pod.Labels) > 0 {
				pod.Labels = labels.Merge(pod.Labels, map[string]string{"case": strconv.Itoa(i)})
			}
			before, err := m.try(t.Context(), bare, pod)
			if err != nil {
				t.Fatalf("refused without a size: %v", err)
			}
			after, err := m.try(t.Context(), sized, pod)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			by := ""
			if s.Want != nil {
				by = fmt.Sprintf("case-%d@", i)
			}
			checkAnnotation(t, after, by)
			checkResources(t, before, after, s.Want)
			if s.Class != "" && after.Status.QOSClass != s.Class {
				t.Errorf("the Pod is %s, want %s", after.Status.QOSClass, s.Class)
			}
		})
	}
}

// checkAnnotation holds what a Pod says of its size to the name of the workload, with its @; an empty one: none.
func checkAnnotation(t testing.TB, pod *corev1.Pod, by string) {
	t.Helper()
	got, found := pod.Annotations[v1alpha1.SizedByAnnotation]
	if found != (by != "") || !strings.HasPrefix(got, by) {
		t.Errorf("sized by %q, want %q", got, by)
	}
}

// checkResources holds a Pod to one without sizes: the resources of its containers are those, or as wanted, and all else is equal.
func checkResources(t testing.TB, before, after *corev1.Pod, want map[string]corev1.ResourceRequirements) {
	t.Helper()
	expected := before.DeepCopy()
	for i, c := range expected.Spec.Containers {
		if resources, found := want[c.Name]; found {
			expected.Spec.Containers[i].Resources = resources
		}
	}
	if !equality.Semantic.DeepEqual(expected.Spec, after.Spec) {
		t.Errorf("the Pod (-want +got):\n%s", cmp.Diff(expected.Spec, after.Spec))
	}
	if !equality.Semantic.DeepEqual(before.Labels, after.Labels) {
		t.Errorf("the labels were %v and are %v", before.Labels, after.Labels)
	}
	annotations := maps.Clone(after.Annotations)
	delete(annotations, v1alpha1.SizedByAnnotation)
	if !equality.Semantic.DeepEqual(annotations, before.Annotations) {
		t.Errorf("the annotations were %v and are %v", before.Annotations, after.Annotations)
	}
}

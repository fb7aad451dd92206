// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// What the hub could not store of a template is refused with it, in words that it can.
func TestUnsound(t *testing.T) {
	named := func(names ...string) (all []corev1.Container) {
		for _, name := range names {
			all = append(all, corev1.Container{Name: name})
		}
		return all
	}
	var many []string
	for i := range mostContainers {
		many = append(many, fmt.Sprint("c", i))
	}
	tests := map[string]struct {
		init, containers []corev1.Container
		want             string
	}{
		"as many as can be": {containers: named(many...), init: named("init")},
		"one more": {containers: named(append(many, "more")...),
			want: "it has 101 containers, and at most 100 can be sized"},
		"two of a name":                      {containers: named("app", "app"), want: `two containers have the name "app"`},
		"two of a name, of which one begins": {init: named("app"), containers: named("app"), want: `two containers have the name "app"`},
		"no name":                            {containers: named(""), want: `a container has the name "": `},
		"too long": {containers: named(strings.Repeat("x", 1000)),
			want: `a container has the name "` + strings.Repeat("x", 123) + `...": `},
		"long":      {containers: named(strings.Repeat("x", 63))},
		"uppercase": {containers: named("App"), want: `a container has the name "App": `},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := sound(&corev1.PodSpec{InitContainers: tc.init, Containers: tc.containers})
			if got := fmt.Sprint(err); (err == nil) != (tc.want == "") || !strings.HasPrefix(got, tc.want) && err != nil {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// Once another workload is named, nothing is said of the former, neither by this process nor by the next, and learning begins again.
func TestAnotherWorkload(t *testing.T) {
	for _, mode := range []v1alpha1.AutoscalingMode{"", v1alpha1.ModePaused} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t, object())
			w.use(4000, 4*gi)
			w.pass(5)
			other := deployment("1", "2Gi")
			other.SetName("other")
			if err := w.hub.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.ScaleTargetRef.Name, m.Spec.Mode = "other", mode })
			pods := map[string][]pod{}
			for name, c := range w.clusters {
				pods[name], c.pods = c.pods, nil
			}
			w.pass(1)
			m := w.object()
			same(t, "target", "Deployment/other", m.Status.Summary.Target)
			same(t, "recommendation", "", recommendedFor(m.Status.Recommendation))
			same(t, "savings", (*v1alpha1.Savings)(nil), m.Status.Savings)
			if mode == v1alpha1.ModePaused {
				return
			}
			same(t, "state", v1alpha1.MultidimLearning, m.Status.Summary.State)
			for name, c := range w.clusters {
				c.pods = pods[name]
			}
			w.use(100, 200*mi)
			w.pass(3)
			same(t, "recommendation once it is measured", "app 126m 250Mi", recommendedFor(w.object().Status.Recommendation))
		})
	}
}

// However many Pods of a cluster differ, little of that is remembered.
func TestShapesAreBounded(t *testing.T) {
	w := newWorld(t, object())
	east := w.clusters["east"]
	for n := range int64(10 * mostShapes) {
		east.pods = append(east.pods, pod{fmt.Sprintf("odd-%d", n), 1, mi, pods.Resources{MilliCPU: n, Memory: mi}, false})
	}
	w.pass(1)
	if known := len(w.memories.Find(web).workload.shapes); known != mostShapes {
		t.Errorf("%d shapes are remembered, want %d", known, mostShapes)
	}
}

// A template is read again when Pods of another one appear, though they request the same; and not since Pods were resized.
func TestTemplateIsReadAgain(t *testing.T) {
	w := newWorld(t, object())
	east := w.clusters["east"]
	east.states = map[string]podState{"web-0": {revision: "one"}, "web-1": {revision: "one"}}
	w.pass(2)
	reads := func() int { return counted(w.pass(1), "get Deployment") }
	east.pods[0].requests.MilliCPU = 1234
	if n := reads() + reads(); n != 0 {
		t.Errorf("read %d times after a Pod was resized", n)
	}
	east.states["web-1"] = podState{revision: "two"}
	if n := reads() + reads(); n != 1 {
		t.Errorf("read %d times after a new template, want once", n)
	}
}

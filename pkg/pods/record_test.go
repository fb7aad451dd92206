// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func TestRecord(t *testing.T) {
	start := after(-time.Hour)
	p := deployed(7, 42)
	p.Status.StartTime = &start
	p.Status.Conditions[1] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: noon}
	r := (&keeper{}).keep(p)
	requests := func(cpu, memory int64) map[corev1.ResourceName]int64 {
		return map[corev1.ResourceName]int64{"cpu": cpu, "memory": memory * 1000}
	}
	want := replicas.Pod{
		Name: "checkout-007-7d9f8b6c5d-00042", Phase: corev1.PodRunning,
		Ready: replicas.Ready{Status: corev1.ConditionFalse, Since: noon.Time}, Started: start.Time,
		Requests: &replicas.Requests{Containers: []replicas.ContainerRequests{
			{Name: "app", Milli: requests(250, 512<<20)}, {Name: "proxy", Milli: requests(100, 64<<20)},
		}},
	}
	if diff := cmp.Diff(want, r.Pod()); diff != "" {
		t.Errorf("Pod() (-want +got):\n%s", diff)
	}
	type rest struct {
		Key   mirror.Key
		Owner Owner
	}
	got := rest{r.Key(), r.Owner()}
	wantRest := rest{
		mirror.Key{Namespace: "shop", Name: want.Name},
		Owner{UID: "checkout-007", Kind: "ReplicaSet", Name: "checkout-007-7d9f8b6c5d"},
	}
	if diff := cmp.Diff(wantRest, got); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

func TestRecordOfABarePod(t *testing.T) {
	r := (&keeper{}).keep(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}})
	if diff := cmp.Diff(replicas.Pod{Name: "x", Requests: &replicas.Requests{}}, r.Pod()); diff != "" {
		t.Errorf("Pod() (-want +got):\n%s", diff)
	}
	if r.Owner() != (Owner{}) || r.Labels().Has("a") || r.unschedulable() {
		t.Errorf("something is made of nothing: %+v", r)
	}
}

func TestStates(t *testing.T) {
	for _, phase := range []corev1.PodPhase{"", "Pending", "Running", "Succeeded", "Failed", "Unknown"} {
		for _, ready := range []corev1.ConditionStatus{"", "True", "False", "Unknown"} {
			p := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
			if ready != "" {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
			}
			got := (&keeper{}).keep(p).Pod()
			if got.Phase != phase || got.Ready.Status != ready || !got.Ready.Since.IsZero() {
				t.Errorf("phase %q and Ready %q became %q and %+v", phase, ready, got.Phase, got.Ready)
			}
		}
	}
	odd := (&keeper{}).keep(&corev1.Pod{Status: corev1.PodStatus{Phase: "Dreaming", Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: "Perhaps"}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}}}).Pod()
	if odd.Phase != corev1.PodUnknown || odd.Ready.Status != corev1.ConditionUnknown {
		t.Errorf("what nobody knows became %q and %q, want the first of each, unknown", odd.Phase, odd.Ready.Status)
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &noon}}
	if !(&keeper{}).keep(p).Pod().Terminating {
		t.Error("a Pod with a deletion timestamp is not terminating")
	}
}

// Whatever tells two Pods apart that stands in their template, tells their templates apart.
func TestTemplates(t *testing.T) {
	edits := map[string]func(*corev1.Pod){
		"none":              func(*corev1.Pod) {},
		"namespace":         func(p *corev1.Pod) { p.Namespace = "cart" },
		"owner's UID":       func(p *corev1.Pod) { p.OwnerReferences[0].UID = "x" },
		"owner's kind":      func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Job" },
		"owner's name":      func(p *corev1.Pod) { p.OwnerReferences[0].Name = "x" },
		"no controller":     func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil },
		"container's name":  func(p *corev1.Pod) { p.Spec.Containers[0].Name = "x" },
		"one container":     func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] },
		"a request":         func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1") },
		"a request less":    func(p *corev1.Pod) { delete(p.Spec.Containers[0].Resources.Requests, "cpu") },
		"a request more":    func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["x/y"] = resource.MustParse("1") },
		"the Pod's request": func(p *corev1.Pod) { p.Spec.Resources = &p.Spec.Containers[0].Resources },
		"a label's value":   func(p *corev1.Pod) { p.Labels["pod-template-hash"] = "x" },
		"a label's key":     func(p *corev1.Pod) { p.Labels["x"] = "" },
		"a label more":      func(p *corev1.Pod) { p.Labels["y"] = "z" },
		"the Pod's name":    func(p *corev1.Pod) { p.Labels["y"] = p.Name },
		"the name's suffix": func(p *corev1.Pod) { p.Labels["y"] = suffixOf(p.Name) },
	}
	k := &keeper{}
	seen := map[*template]string{}
	for name, edit := range edits {
		p, twin := deployed(1, 1), deployed(1, 2)
		edit(p)
		edit(twin)
		r := k.keep(p)
		if other, taken := seen[r.template]; taken {
			t.Errorf("%s and %s have one template", name, other)
		}
		seen[r.template] = name
		if r.template != k.keep(twin).template {
			t.Errorf("%s: two Pods that have it in common have two templates", name)
		}
	}
}

func TestLabels(t *testing.T) {
	numbered := map[string]string{
		"app": "db", "apps.kubernetes.io/pod-index": "7", "statefulset.kubernetes.io/pod-name": "db-7", "empty": "", "seven": "7",
	}
	tests := map[string]struct {
		name, selector string
		want           bool
	}{
		"value":                 {"db-7", "app=db", true},
		"other value":           {"db-7", "app=web", false},
		"its name":              {"db-7", "statefulset.kubernetes.io/pod-name=db-7", true},
		"another's name":        {"db-7", "statefulset.kubernetes.io/pod-name=db-8", false},
		"its number":            {"db-7", "apps.kubernetes.io/pod-index in (6,7)", true},
		"another's number":      {"db-7", "apps.kubernetes.io/pod-index in (6,8)", false},
		"a number as it stands": {"db-17", "apps.kubernetes.io/pod-index=7", true},
		"there":                 {"db-7", "empty", true},
		"empty":                 {"db-7", "empty=", true},
		"not there":             {"db-7", "!none", true},
		"not that":              {"db-7", "app!=db", false},
		"name without a dash":   {"db", "app=db,seven=7", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			selector, err := labels.Parse(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			r := (&keeper{}).keep(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tc.name, Labels: numbered}})
			if got := selector.Matches(r.Labels()); got != tc.want {
				t.Errorf("%s matches %s = %v, want %v", tc.selector, tc.name, got, tc.want)
			}
			if want := selector.Matches(labels.Set(numbered)); want != tc.want {
				t.Errorf("the test is wrong: want %v", want)
			}
		})
	}
}

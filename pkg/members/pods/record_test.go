// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func TestRecord(t *testing.T) {
	start := after(-time.Hour)
	p := deployed(7, 42)
	p.Status.StartTime = &start
	p.Status.Conditions[1] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: noon}
	r := recordOf(p)
	want := replicas.Pod{
		Name: "checkout-007-7d9f8b6c5d-00042", Phase: corev1.PodRunning,
		Ready: replicas.Ready{Status: corev1.ConditionFalse, Since: noon.Time}, Started: start.Time,
		Requests: replicas.RequestsOf(&p.Spec),
	}
	fleettest.Same(t, "pod()", want, podOf(r), sameRequests)
	if want := (mirror.Key{Namespace: "shop", Name: want.Name}); r.Key() != want {
		t.Errorf("Key() = %v, want %v", r.Key(), want)
	}
}

var sameRequests = cmpopts.EquateComparable(replicas.Requests{})

// podOf is the record as it is listed.
func podOf(r *Record) replicas.Pod {
	return listingOf(mirror.Answer[*Record]{Objects: []*Record{r}}, labels.Everything()).Pods[0]
}

// The room of a record is that of its Pod, whatever it has in common with those before.
func TestRooms(t *testing.T) {
	ended := deployed(1, 1)
	ended.Status.Phase = corev1.PodSucceeded
	all := []*corev1.Pod{
		deployed(1, 1), deployed(1, 2), deployed(2, 1), ended, {ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}}, deployed(1, 3),
		stuck("a", noon, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
		stuck("b", noon, func(p *corev1.Pod) { p.DeletionTimestamp = &noon }), deployed(0, 1),
	}
	var records []*Record
	var want, got []fit.Pod
	for _, p := range all {
		records, want = append(records, recordOf(p)), append(want, fit.PodOf(p))
	}
	for p := range Rooms(records) {
		got = append(got, *p)
	}
	comparable := cmpopts.EquateComparable(fit.Amounts{}, compact.Labels{}, unique.Handle[string]{})
	fleettest.Same(t, "Rooms()", want, got, comparable)
}

func TestRecordOfABarePod(t *testing.T) {
	r := recordOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}})
	fleettest.Same(t, "pod()", replicas.Pod{Name: "x", Requests: replicas.RequestsOf(&corev1.PodSpec{})}, podOf(r), sameRequests)
	if r.Key() != (mirror.Key{Namespace: "shop", Name: "x"}) || r.unschedulable() {
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
			got := podOf(recordOf(p))
			if got.Phase != phase || got.Ready.Status != ready || !got.Ready.Since.IsZero() {
				t.Errorf("phase %q and Ready %q became %q and %+v", phase, ready, got.Phase, got.Ready)
			}
		}
	}
	odd := podOf(recordOf(&corev1.Pod{Status: corev1.PodStatus{Phase: "Dreaming", Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: "Perhaps"}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}}}))
	if odd.Phase != corev1.PodUnknown || odd.Ready.Status != corev1.ConditionUnknown {
		t.Errorf("what nobody knows became %q and %q, want the first of each, unknown", odd.Phase, odd.Ready.Status)
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &noon}}
	if !podOf(recordOf(p)).Terminating {
		t.Error("a Pod with a deletion timestamp is not terminating")
	}
}

var restarting = []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: corev1.RestartContainer}}

// Whatever tells two Pods apart that stands in their template, tells their templates apart.
func TestTemplates(t *testing.T) {
	edits := map[string]func(*corev1.Pod){
		"none":              func(*corev1.Pod) {},
		"namespace":         func(p *corev1.Pod) { p.Namespace = "cart" },
		"container's name":  func(p *corev1.Pod) { p.Spec.Containers[0].Name = "x" },
		"one container":     func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] },
		"a request":         func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1") },
		"a request less":    func(p *corev1.Pod) { delete(p.Spec.Containers[0].Resources.Requests, "cpu") },
		"a request more":    func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["x/y"] = resource.MustParse("1") },
		"a limit":           func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits["memory"] = resource.MustParse("1Gi") },
		"a limit less":      func(p *corev1.Pod) { delete(p.Spec.Containers[0].Resources.Limits, "memory") },
		"a limit more":      func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1") },
		"the class":         func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSGuaranteed },
		"a restart":         func(p *corev1.Pod) { p.Spec.Containers[0].ResizePolicy = restarting },
		"what sized it":     func(p *corev1.Pod) { p.Annotations = map[string]string{v1alpha1.SizedByAnnotation: "shop@7"} },
		"its kubelet's own": func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: ""} },
		"the Pod's request": func(p *corev1.Pod) { p.Spec.Resources = &p.Spec.Containers[0].Resources },
		"a label's value":   func(p *corev1.Pod) { p.Labels["pod-template-hash"] = "x" },
		"a label's key":     func(p *corev1.Pod) { p.Labels["x"] = "" },
		"a label more":      func(p *corev1.Pod) { p.Labels["y"] = "z" },
		"the Pod's name":    func(p *corev1.Pod) { p.Labels["y"] = p.Name },
		"the name's suffix": func(p *corev1.Pod) { p.Labels["y"] = p.Name[strings.LastIndexByte(p.Name, '-')+1:] },
	}
	seen := map[unique.Handle[template]]string{}
	for name, edit := range edits {
		p, twin := deployed(1, 1), deployed(1, 2)
		edit(p)
		edit(twin)
		r := recordOf(p)
		if other, taken := seen[r.template]; taken {
			t.Errorf("%s and %s have one template", name, other)
		}
		seen[r.template] = name
		if r.template != recordOf(twin).template {
			t.Errorf("%s: two Pods that have it in common have two templates", name)
		}
	}
}

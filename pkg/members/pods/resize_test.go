// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// condition is one of a resize, of the third generation.
func condition(kind corev1.PodConditionType, reason string, since metav1.Time) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: since, ObservedGeneration: 3}
}

// grown is a Pod of the third generation whose first container is to get another core, which its status does not tell yet.
func grown(conditions ...corev1.PodCondition) *corev1.Pod {
	p := deployed(0, 1)
	p.Generation, p.Status.ObservedGeneration = 3, 2
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1250m"), "memory": resource.MustParse("512Mi")}
	p.Status.Conditions = append(p.Status.Conditions, conditions...)
	return p
}

func TestResizes(t *testing.T) {
	const pending, progress = corev1.PodResizePending, corev1.PodResizeInProgress
	is := func(state ResizeState) Resize { return Resize{state, noon.Time, true} }
	off := condition(pending, "Deferred", noon)
	off.Status = corev1.ConditionFalse
	tests := map[string]struct {
		conditions []corev1.PodCondition
		want       Resize
	}{
		"not seen yet":    {nil, Resize{}},
		"deferred":        {[]corev1.PodCondition{condition(pending, "Deferred", noon)}, is(ResizeDeferred)},
		"infeasible":      {[]corev1.PodCondition{condition(pending, "Infeasible", noon)}, is(ResizeInfeasible)},
		"pending somehow": {[]corev1.PodCondition{condition(pending, "", noon)}, is(ResizeDeferred)},
		"in progress":     {[]corev1.PodCondition{condition(progress, "", noon)}, is(ResizeInProgress)},
		"it fails":        {[]corev1.PodCondition{condition(progress, "Error", noon)}, is(ResizeError)},
		"pending no more": {[]corev1.PodCondition{off}, Resize{}},
		"without times":   {[]corev1.PodCondition{condition(progress, "", metav1.Time{})}, Resize{ResizeInProgress, time.Time{}, true}},
		"twice: the first": {
			[]corev1.PodCondition{condition(progress, "", noon), condition(progress, "Error", after(time.Hour))}, is(ResizeInProgress),
		},
		"the next is deferred": {
			[]corev1.PodCondition{condition(progress, "", after(-time.Hour)), condition(pending, "Deferred", noon)}, is(ResizeDeferred),
		},
		"the next is infeasible": {
			[]corev1.PodCondition{condition(progress, "", after(-time.Hour)), condition(pending, "Infeasible", noon)}, is(ResizeInfeasible),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "resize", tc.want, sizedOf(grown(tc.conditions...))[0].Resize)
		})
	}
}

func TestObserved(t *testing.T) {
	const progress = corev1.PodResizeInProgress
	earlier, timeless := condition(progress, "", noon), condition(progress, "", noon)
	earlier.ObservedGeneration, timeless.ObservedGeneration = 2, 0
	tests := map[string]struct {
		pod    *corev1.Pod
		status int64 // its generation
		want   bool
	}{
		"an earlier generation":                      {grown(), 2, false},
		"the present one":                            {grown(), 3, true},
		"the present one, of which nothing is told":  {deployed(0, 1), 3, true},
		"the resize of an earlier one":               {grown(earlier), 2, false},
		"the condition's is the present one":         {grown(condition(progress, "", noon)), 2, true},
		"a change that is no resize":                 {grown(earlier), 3, true},
		"a node that tells none, of a resize":        {grown(timeless), 0, true},
		"a node that tells none, and does not begin": {grown(), 0, false},
		"a node that tells none, and nothing is new": {deployed(0, 1), 0, true},
		"a generation that never was":                {grown(), 1 << 62, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.pod.Generation, tc.pod.Status.ObservedGeneration = 3, tc.status
			if got := sizedOf(tc.pod)[0].Resize.Observed; got != tc.want {
				t.Errorf("observed: %v, want %v", got, tc.want)
			}
		})
	}
}

// What is asked for counts at once, and what a Pod has stands beside it.
func TestActual(t *testing.T) {
	p := grown()
	got := sizedOf(p)[0]
	if !replicasEqual(got.Requests, replicas.RequestsOf(&p.Spec)) || got.Containers[0].Requests.MilliCPU != 1250 {
		t.Errorf("requests are those before it was resized: %v", got.Containers)
	}
	fleettest.Same(t, "actual", has(), got.Actual)
	first := []Container{has()[0], {"proxy", Resources{None, None}, Resources{None, None}, Restarts{}}}
	tests := map[string]struct {
		edit func(*corev1.Pod)
		want []Container
	}{
		"as the spec says":      {func(p *corev1.Pod) { p.Spec = deployed(0, 1).Spec }, nil},
		"nothing is told":       {func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }, nil},
		"no resources are told": {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = nil }, nil},
		"of others":             {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Name = "debugger" }, nil},
		"one is told":           {func(p *corev1.Pod) { p.Status.ContainerStatuses[1].Resources = nil }, first},
		"in another order":      {func(p *corev1.Pod) { s := p.Status.ContainerStatuses; s[0], s[1] = s[1], s[0] }, has()},
		"twice: the first":      {func(p *corev1.Pod) { p.Status.ContainerStatuses[1].Name = "app" }, first},
		"of something else only": {func(p *corev1.Pod) {
			p.Spec = deployed(0, 1).Spec
			p.Spec.Containers[0].Resources.Requests["x/y"] = resource.MustParse("1")
		}, nil},
		"a limit": {func(p *corev1.Pod) {
			p.Spec = deployed(0, 1).Spec
			p.Spec.Containers[1].Resources.Limits = nil
		}, has()},
		"it restarts then": {func(p *corev1.Pod) {
			p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: "RestartContainer"}}
		}, []Container{{"app", has()[0].Requests, has()[0].Limits, Restarts{CPU: true}}, has()[1]}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := grown()
			tc.edit(p)
			fleettest.Same(t, "actual", tc.want, sizedOf(p)[0].Actual)
		})
	}
}

func replicasEqual(a, b *replicas.Requests) bool { return *a == *b }

func TestResizable(t *testing.T) {
	untold := func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = nil }
	waits := func(p *corev1.Pod) {
		untold(p)
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
	}
	tests := map[string]struct {
		edit func(*corev1.Pod)
		want bool
	}{
		"all are told":                  {func(*corev1.Pod) {}, true},
		"the first that runs is not":    {untold, false},
		"one that does not run is not":  {waits, true},
		"none that runs is":             {func(p *corev1.Pod) { waits(p); p.Status.ContainerStatuses[1].Resources = nil }, false},
		"a later one is not":            {func(p *corev1.Pod) { p.Status.ContainerStatuses[1].Resources = nil }, true},
		"nothing runs, as far as known": {func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := deployed(0, 1)
			tc.edit(p)
			if got := sizedOf(p)[0].Resizable; got != tc.want {
				t.Errorf("resizable: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestStatic(t *testing.T) {
	annotated := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{key: value} }
	}
	tests := map[string]struct {
		edit func(*corev1.Pod)
		want bool
	}{
		"as others":         {annotated("a", "b"), false},
		"the mirror of":     {annotated("kubernetes.io/config.mirror", ""), true},
		"from a file":       {annotated("kubernetes.io/config.source", "file"), true},
		"from an API":       {annotated("kubernetes.io/config.source", "api"), false},
		"of Windows":        {func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }, true},
		"of Linux, it says": {func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Linux} }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := deployed(0, 1)
			tc.edit(p)
			if got := sizedOf(p)[0].Static; got != tc.want {
				t.Errorf("static: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSizedBy(t *testing.T) {
	longest := strings.Repeat("n", mostSizedBy)
	for by, want := range map[string]string{"": "", "shop@7": "shop@7", longest: longest, longest + "n": "", strings.Repeat("x", 1<<20): ""} {
		p := deployed(0, 1)
		p.Annotations = map[string]string{v1alpha1.SizedByAnnotation: by}
		if got := sizedOf(p)[0].SizedBy; got != want {
			t.Errorf("%.20q of %d became %.20q of %d", by, len(by), got, len(got))
		}
	}
}

func TestRestarts(t *testing.T) {
	const again = corev1.RestartContainer
	policy := func(name corev1.ResourceName, restart corev1.ResourceResizeRestartPolicy) corev1.ContainerResizePolicy {
		return corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: restart}
	}
	tests := map[string]struct {
		policies []corev1.ContainerResizePolicy
		want     Restarts
	}{
		"none":       {nil, Restarts{}},
		"not":        {[]corev1.ContainerResizePolicy{policy("cpu", "NotRequired"), policy("memory", "NotRequired")}, Restarts{}},
		"for cpu":    {[]corev1.ContainerResizePolicy{policy("cpu", again)}, Restarts{CPU: true}},
		"for memory": {[]corev1.ContainerResizePolicy{policy("cpu", "NotRequired"), policy("memory", again)}, Restarts{Memory: true}},
		"for both":   {[]corev1.ContainerResizePolicy{policy("memory", again), policy("cpu", again)}, Restarts{true, true}},
		"for others": {[]corev1.ContainerResizePolicy{policy("x/y", again)}, Restarts{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := deployed(0, 1)
			p.Spec.Containers[1].ResizePolicy = tc.policies
			got := sizedOf(p)[0].Containers
			if got[0].Restarts != (Restarts{}) || got[1].Restarts != tc.want {
				t.Errorf("restarts: %v and %v, want none and %v", got[0].Restarts, got[1].Restarts, tc.want)
			}
		})
	}
}

func TestUIDs(t *testing.T) {
	const uuid = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	for text, want := range map[string]string{
		uuid: uuid, "": "", "u": "", strings.ToUpper(uuid): "", strings.ReplaceAll(uuid, "-", ""): "", "{" + uuid + "}": "", uuid + "0": "",
		strings.Replace(uuid, "6", "g", 1): "", strings.ReplaceAll(uuid, "-", "0"): "", "00000000-0000-0000-0000-000000000000": "",
		strings.Repeat("6", 1<<20): "",
	} {
		p := deployed(0, 1)
		p.UID = types.UID(text)
		if got := sizedOf(p)[0].UID; string(got) != want {
			t.Errorf("%.40q became %q, want %q", text, got, want)
		}
	}
}

func TestCreated(t *testing.T) {
	p := deployed(0, 1)
	p.CreationTimestamp = noon
	if got := sizedOf(p)[0].Created; !got.Equal(noon.Time) {
		t.Errorf("created: %v", got)
	}
	p.CreationTimestamp = metav1.Time{}
	if got := sizedOf(p)[0].Created; !got.IsZero() {
		t.Errorf("created at a time that is not told: %v", got)
	}
}

// A Pod that has no end takes a moment, and leaves little.
func TestEndlessPod(t *testing.T) {
	p := grown()
	for i := range 20_000 {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i)})
		p.Status.Conditions = append(p.Status.Conditions, condition(corev1.PodResizePending, fmt.Sprint("Reason", i), noon))
		s := running(fmt.Sprint("d", i), corev1.ResourceRequirements{}, noon)
		s.LastTerminationState = killed(oomKilled, noon, noon)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	began := time.Now()
	kept := recordOf(p).rarely()
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if kept.resize.state != ResizeDeferred || kept.actual != (actual{}) {
		t.Errorf("kept: %+v", kept)
	}

	t.Log("with few containers")
	p.Spec.Containers = p.Spec.Containers[:mostContainers]
	if kept := recordOf(p).rarely(); kept.actual == (actual{}) || len(kept.actual.Value()) > 6*mostContainers {
		t.Errorf("%+v is kept of %d containers", kept, mostContainers)
	}
}

// What few Pods have costs others a pointer, and Pods that are resized alike share what they have.
func TestResizedPodsShare(t *testing.T) {
	if r := recordOf(deployed(0, 1)); r.rare != nil {
		t.Errorf("of a Pod that runs as its spec says, %+v is kept", *r.rare)
	}
	a, b := recordOf(grown()).rarely().actual.Value(), recordOf(grown()).rarely().actual.Value()
	if unsafe.StringData(a) != unsafe.StringData(b) {
		t.Error("two Pods that have the same keep it twice")
	}
}

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

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// sizedOf are the Pods as they are listed with their sizes.
func sizedOf(all ...*corev1.Pod) []SizedPod {
	a := mirror.Answer[*Record]{Known: true}
	for _, p := range all {
		a.Objects = append(a.Objects, recordOf(p))
	}
	return sizedListingOf(a, labels.Everything()).Pods
}

// has are the containers of a Pod that is deployed.
func has() []Container {
	return []Container{
		{Name: "app", Requests: Resources{250, 512 << 20}, Limits: Resources{None, 512 << 20}},
		{Name: "proxy", Requests: Resources{100, 64 << 20}, Limits: Resources{None, 64 << 20}},
	}
}

func TestSizedListing(t *testing.T) {
	var records []*Record
	for i := range 30 {
		records = append(records, recordOf(deployed(i%3, i)))
	}
	l := sizedListingOf(mirror.Answer[*Record]{Objects: records, Known: true, AsOf: noon.Time},
		selecting(t, "app.kubernetes.io/name=checkout-001"))
	if len(l.Pods) != 10 || !l.Known || l.Silent != nil || !l.AsOf.Equal(noon.Time) {
		t.Fatalf("%d Pods, known %v, silence %v, as of %v", len(l.Pods), l.Known, l.Silent, l.AsOf)
	}
	p := deployed(1, 4)
	want := SizedPod{
		Pod: replicas.Pod{
			Name: p.Name, Phase: corev1.PodRunning, Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: after(4 * time.Second).Time},
			Started: after(4 * time.Second).Time, Requests: replicas.RequestsOf(&p.Spec),
		},
		UID: p.UID, Created: p.CreationTimestamp.Time, Node: "node-0004", Class: corev1.PodQOSBurstable, Containers: has(),
		Resizable: true, Resize: Resize{Observed: true}, Revision: "7d9f8b6c5d",
	}
	fleettest.Same(t, "Pod", want, l.Pods[1], sameRequests)
	silence := &fleet.Silence{Reason: fleet.ReasonTimeout}
	unseen := sizedListingOf(mirror.Answer[*Record]{Silence: silence}, labels.Everything())
	fleettest.Same(t, "of a member never seen", SizedListing{Silent: silence}, unseen)
}

// A store answers who sizes Pods from what it keeps for others.
func TestAskSized(t *testing.T) {
	s, east := run(t), memberOf(20, func(i int) *corev1.Pod { return deployed(i/10, i) })
	selector := labels.SelectorFromSet(labels.Set{"app.kubernetes.io/name": "checkout-001"})
	listed, sized := s.Ask(t.Context(), east, "shop", selector), s.AskSized(t.Context(), east, "shop", selector)
	if !sized.Known || len(sized.Pods) != 10 || len(listed.Pods) != 10 {
		t.Fatalf("known %v, %d and %d Pods", sized.Known, len(sized.Pods), len(listed.Pods))
	}
	for i := range listed.Pods {
		if diff := cmp.Diff(listed.Pods[i], sized.Pods[i].Pod, sameRequests); diff != "" {
			t.Errorf("Pod %d (-listed +sized):\n%s", i, diff)
		}
	}
}

// Each Pod has the sizes of its own template, though others stand between.
func TestSizesOfEach(t *testing.T) {
	resized := deployed(0, 1)
	resized.Spec.Containers[1].Resources.Limits["memory"] = resource.MustParse("96Mi")
	got := sizedOf(deployed(0, 0), resized, deployed(0, 2))
	larger := has()
	larger[1].Limits.Memory = 96 << 20
	for i, want := range [][]Container{has(), larger, has()} {
		if diff := cmp.Diff(want, got[i].Containers); diff != "" {
			t.Errorf("Pod %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestSizes(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	container := func(name string, requests, limits corev1.ResourceList) corev1.Container {
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	amounts := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory), "x/y": resource.MustParse("7")}
	}
	tests := map[string]struct {
		spec corev1.PodSpec
		want []Container
	}{
		"no containers": {corev1.PodSpec{}, nil},
		"nothing is set": {corev1.PodSpec{Containers: []corev1.Container{container("a", nil, nil)}},
			[]Container{{"a", Resources{None, None}, Resources{None, None}, Restarts{}}}},
		"nothing is requested": {corev1.PodSpec{Containers: []corev1.Container{container("a", amounts("0", "0"), nil)}},
			[]Container{{"a", Resources{0, 0}, Resources{None, None}, Restarts{}}}},
		"fractions are whole": {corev1.PodSpec{Containers: []corev1.Container{container("a", amounts("1500u", "1500m"), amounts("2", "1Gi"))}},
			[]Container{{"a", Resources{2, 2}, Resources{2000, 1 << 30}, Restarts{}}}},
		"the most that a number holds": {corev1.PodSpec{Containers: []corev1.Container{container("a", nil, amounts("1", "9223372036854775807"))}},
			[]Container{{"a", Resources{None, None}, Resources{1000, 1<<63 - 1}, Restarts{}}}},
		"in the order of the spec, without those that initialize": {
			corev1.PodSpec{
				Containers:     []corev1.Container{container("z", amounts("1", "1"), nil), container("", nil, nil)},
				InitContainers: []corev1.Container{{Name: "side", RestartPolicy: &always}, {Name: "init"}},
			},
			[]Container{{"z", Resources{1000, 1}, Resources{None, None}, Restarts{}},
				{"", Resources{None, None}, Resources{None, None}, Restarts{}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "containers", tc.want, sizesOf(&corev1.Pod{Spec: tc.spec}).sized().Containers)
		})
	}
}

func TestClasses(t *testing.T) {
	for class, want := range map[corev1.PodQOSClass]corev1.PodQOSClass{
		"Guaranteed": "Guaranteed", "Burstable": "Burstable", "BestEffort": "BestEffort", "": "", "Other": "",
	} {
		p := deployed(0, 0)
		p.Status.QOSClass = class
		if got := sizedOf(p)[0]; got.Class != want || len(got.Containers) != 2 {
			t.Errorf("%q became %q, with %d containers", class, got.Class, len(got.Containers))
		}
	}
}

func TestNodes(t *testing.T) {
	ended := deployed(0, 0)
	ended.Status.Phase = corev1.PodFailed
	for i, p := range sizedOf(ended, stuck("a", noon)) {
		if p.Node != "" {
			t.Errorf("Pod %d is on node %q", i, p.Node)
		}
	}
}

// killed is a container that ended so.
func killed(reason string, began, ended metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, StartedAt: began, FinishedAt: ended}}
}

func exited(code int32, reason string, began, ended metav1.Time) corev1.ContainerState {
	s := killed(reason, began, ended)
	s.Terminated.ExitCode = code
	return s
}

func TestOOMKills(t *testing.T) {
	began, ended, later := after(-time.Hour), noon, after(time.Minute)
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	status := func(name string, restarts int32, now, last corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: restarts, State: now, LastTerminationState: last}
	}
	oom := killed("OOMKilled", began, ended)
	one, supposed := OOMKill{"app", 3, began.Time, ended.Time, false}, OOMKill{"app", 3, began.Time, ended.Time, true}
	tests := map[string]struct {
		statuses []corev1.ContainerStatus
		want     []OOMKill
	}{
		"none":                    {[]corev1.ContainerStatus{status("app", 0, running, corev1.ContainerState{})}, nil},
		"it ended otherwise":      {[]corev1.ContainerStatus{status("app", 3, running, killed("Error", began, ended))}, nil},
		"just now":                {[]corev1.ContainerStatus{status("app", 3, oom, corev1.ContainerState{})}, []OOMKill{one}},
		"it waits to be started":  {[]corev1.ContainerStatus{status("app", 3, waiting, oom)}, []OOMKill{one}},
		"it runs again":           {[]corev1.ContainerStatus{status("app", 3, running, oom)}, []OOMKill{one}},
		"it ended otherwise then": {[]corev1.ContainerStatus{status("app", 3, killed("Error", ended, later), oom)}, []OOMKill{one}},
		"twice: the last": {[]corev1.ContainerStatus{status("app", 4, killed("OOMKilled", ended, later), oom)},
			[]OOMKill{{"app", 4, ended.Time, later.Time, false}}},
		"both containers, in the order of the statuses": {
			[]corev1.ContainerStatus{status("proxy", 1, oom, corev1.ContainerState{}), status("app", 3, running, oom)},
			[]OOMKill{{"proxy", 1, began.Time, ended.Time, false}, one},
		},
		"told twice: the first": {
			[]corev1.ContainerStatus{status("app", 3, running, oom), status("app", 4, running, killed("OOMKilled", ended, later))}, []OOMKill{one},
		},
		"by SIGKILL, nobody knows why": {[]corev1.ContainerStatus{status("app", 3, running, exited(137, "Error", began, ended))},
			[]OOMKill{supposed}},
		"by SIGKILL just now": {[]corev1.ContainerStatus{status("app", 3, exited(137, "Error", began, ended), waiting)},
			[]OOMKill{supposed}},
		"by SIGKILL, and once before for sure": {
			[]corev1.ContainerStatus{status("app", 3, exited(137, "Error", ended, later), exited(137, "OOMKilled", began, ended))}, []OOMKill{one},
		},
		"by SIGKILL, twice: the last": {
			[]corev1.ContainerStatus{status("app", 4, exited(137, "Error", ended, later), exited(137, "Error", began, ended))},
			[]OOMKill{{"app", 4, ended.Time, later.Time, true}},
		},
		"by SIGKILL, for another reason": {
			[]corev1.ContainerStatus{status("app", 3, running, exited(137, "ContainerStatusUnknown", began, ended))},
			nil,
		},
		"by another signal":        {[]corev1.ContainerStatus{status("app", 3, running, exited(143, "Error", began, ended))}, nil},
		"no container of the spec": {[]corev1.ContainerStatus{status("debugger", 3, oom, oom)}, nil},
		"without times": {[]corev1.ContainerStatus{status("app", 3, running, killed("OOMKilled", metav1.Time{}, metav1.Time{}))},
			[]OOMKill{{Container: "app", Restarts: 3}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := deployed(0, 0)
			p.Status.ContainerStatuses = tc.statuses
			fleettest.Same(t, "OOM kills", tc.want, sizedOf(deployed(0, 1), p)[1].OOMKills)
			if kept := recordOf(p).rarely().oomKills; (kept == nil) != (tc.want == nil) {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

// A kill is told of in several ways, one after the other: it is one.
func TestOOMKillsAreTold(t *testing.T) {
	first := OOMKill{"app", 3, noon.Time, after(time.Minute).Time, false}
	edit := func(f func(*OOMKill)) OOMKill { k := first; f(&k); return k }
	timeless := OOMKill{Container: "app", Restarts: 3}
	tests := map[string]struct {
		a, b OOMKill
		want bool
	}{
		"itself":                           {first, first, true},
		"the container was started again":  {first, edit(func(k *OOMKill) { k.Restarts++ }), true},
		"in another place of the world":    {first, edit(func(k *OOMKill) { k.FinishedAt = k.FinishedAt.UTC() }), true},
		"the next one":                     {first, edit(func(k *OOMKill) { k.Restarts++; k.FinishedAt = k.FinishedAt.Add(time.Second) }), false},
		"of a Pod that took the place":     {first, edit(func(k *OOMKill) { k.Restarts, k.FinishedAt = 0, after(time.Hour).Time }), false},
		"by a clock that was set back":     {first, edit(func(k *OOMKill) { k.FinishedAt = noon.Time }), false},
		"another container":                {first, edit(func(k *OOMKill) { k.Container = "proxy" }), false},
		"none seen before":                 {first, OOMKill{}, false},
		"without times":                    {timeless, timeless, true},
		"without times, one more":          {timeless, OOMKill{Container: "app", Restarts: 4}, false},
		"without times, another container": {timeless, OOMKill{Container: "proxy", Restarts: 3}, false},
		"only one without a time":          {timeless, first, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.a.Same(tc.b) != tc.want || tc.b.Same(tc.a) != tc.want {
				t.Errorf("Same() = %v and %v, want %v", tc.a.Same(tc.b), tc.b.Same(tc.a), tc.want)
			}
		})
	}
}

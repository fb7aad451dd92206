// SPDX-License-Identifier: Apache-2.0

package central

import (
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// eight Pods, four of which stand for a replica.
func eight() pods.Listing {
	return pods.Listing{Known: true, Pods: []replicas.Pod{
		{Name: "a", Phase: corev1.PodRunning}, {Name: "b", Phase: corev1.PodRunning}, {Name: "c", Phase: corev1.PodPending}, {Name: "d"},
		{Name: "leaving", Phase: corev1.PodRunning, Terminating: true}, {Name: "never started", Phase: corev1.PodPending, Terminating: true},
		{Name: "failed", Phase: corev1.PodFailed}, {Name: "done", Phase: corev1.PodSucceeded},
	}}
}

// How a cluster is seen by the decision on the fleet's replicas.
func TestSeen(t *testing.T) {
	scaleOf := func(told, runs int32, selector string) *autoscalingv1.Scale {
		return &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: told},
			Status: autoscalingv1.ScaleStatus{Replicas: runs, Selector: selector}}
	}
	timeout, forbidden := federatedhpatest.Silence(), &fleet.Silence{Reason: fleet.ReasonForbidden, Detail: "no"}
	unknown := pods.Listing{Silent: forbidden}
	tests := map[string]struct {
		seen     selection.Cluster
		part     part
		reported int32 // by the workload as a whole
		want     replicas.Cluster
	}{
		"where the hub knows what runs, Pods are not counted": {selection.Cluster{Pods: eight()}, part{}, 8,
			replicas.Cluster{Pods: eight().Pods}},
		"where it knows of none, they are": {selection.Cluster{Pods: eight()}, part{}, 0,
			replicas.Cluster{Pods: eight().Pods, Replicas: new(int32(4))}},
		"and are none where none is listed": {selection.Cluster{Pods: pods.Listing{Known: true}}, part{}, 0,
			replicas.Cluster{Replicas: new(int32(0))}},
		"but not where Pods are not known": {selection.Cluster{Pods: unknown}, part{}, 0, replicas.Cluster{Silent: forbidden}},
		"a silent cluster's are as they were": {
			selection.Cluster{Pods: pods.Listing{Known: true, Silent: forbidden, Pods: eight().Pods}}, part{}, 0,
			replicas.Cluster{Silent: forbidden, Pods: eight().Pods, Replicas: new(int32(4))}},
		"a member's own account goes first": {selection.Cluster{Scale: scaleOf(6, 6, ""), Pods: eight()}, part{assigned: new(int32(6))}, 0,
			replicas.Cluster{Pods: eight().Pods, Assigned: new(int32(6)), Replicas: new(int32(6))}},
		"it has not come to what it was told": {selection.Cluster{Scale: scaleOf(6, 5, "")}, part{}, 5,
			replicas.Cluster{Replicas: new(int32(5)), Lagging: true}},
		"nor has it where it runs more": {selection.Cluster{Scale: scaleOf(6, 7, "")}, part{}, 7,
			replicas.Cluster{Replicas: new(int32(7)), Lagging: true}},
		"what moves there runs elsewhere": {selection.Cluster{Scale: scaleOf(6, 6, "")}, part{moved: 2}, 6,
			replicas.Cluster{Replicas: new(int32(4))}},
		"of one that is drained all runs elsewhere": {selection.Cluster{Scale: scaleOf(6, 6, "")},
			part{takenOver: true, assigned: new(int32(6)), moved: 6}, 6, replicas.Cluster{Assigned: new(int32), Replicas: new(int32)}},
		"also where it cannot be read": {selection.Cluster{Pods: unknown}, part{moved: 2, assigned: new(int32(6))}, 6,
			replicas.Cluster{Silent: forbidden, Assigned: new(int32(6)), Replicas: new(int32(4))}},
		"the selector of all is not repeated": {selection.Cluster{Scale: scaleOf(1, 1, "app=web")}, part{}, 1,
			replicas.Cluster{Replicas: new(int32(1)), Selector: ""}},
		"one of its own is told": {selection.Cluster{Scale: scaleOf(1, 1, "app=own")}, part{}, 1,
			replicas.Cluster{Replicas: new(int32(1)), Selector: "app=own"}},
		"one that cannot be asked is silent": {
			selection.Cluster{}, part{state: v1alpha1.ClusterUnreachable, reason: "Timeout", message: timeout.Detail}, 1,
			replicas.Cluster{Silent: timeout}},
		"for the reason that its Pods are not seen, if there is one": {
			selection.Cluster{Pods: unknown}, part{state: v1alpha1.ClusterUnreachable, reason: "Timeout"}, 1,
			replicas.Cluster{Silent: forbidden}},
		"one with another state is not": {selection.Cluster{}, part{state: v1alpha1.ClusterConflict, reason: "ScaledByOthers"}, 1,
			replicas.Cluster{}},
		"what was Ready last": {selection.Cluster{Before: v1alpha1.ClusterStatus{ReadyReplicas: new(int32(3))}}, part{}, 1,
			replicas.Cluster{LastReady: 3}},
		"others and clocks": {selection.Cluster{ClockOffset: time.Second}, part{others: []string{"shop/a"}}, 1,
			replicas.Cluster{Autoscalers: []string{"shop/a"}, ClockOffset: time.Second}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			whole := &replicas.Scale{StatusReplicas: tc.reported}
			if tc.seen.Scale != nil && tc.want.Selector == "" {
				whole.Selector = tc.seen.Scale.Status.Selector
			}
			tc.part.Cluster, tc.seen.Facts.Name, tc.want.Name = &tc.seen, "east", "east"
			same(t, "cluster", tc.want, tc.part.seen(whole))
		})
	}
}

// What may be done with a cluster in each state.
func TestStatesOfParts(t *testing.T) {
	type can struct{ Counts, Writable, WritableUnread bool }
	for state, want := range map[v1alpha1.ClusterState]can{
		v1alpha1.ClusterActive:      {true, true, false},
		v1alpha1.ClusterSaturated:   {true, true, false},
		v1alpha1.ClusterConflict:    {true, false, false},
		v1alpha1.ClusterUnreachable: {true, false, false},
		v1alpha1.ClusterExcluded:    {false, false, false},
	} {
		read := part{Cluster: &selection.Cluster{Scale: &autoscalingv1.Scale{}}, state: state}
		unread := part{Cluster: &selection.Cluster{}, state: state}
		same(t, string(state), want, can{read.takesPart(), read.writable(), unread.writable()})
	}
}

// Why a part is ignored is told in a reason for programs and a message for people.
func TestReasonsOfParts(t *testing.T) {
	type said struct {
		State           v1alpha1.ClusterState
		Reason, Message string
	}
	of := func(change func(*part)) said {
		p := part{state: v1alpha1.ClusterActive}
		change(&p)
		return said{p.state, p.reason, p.message}
	}
	same(t, "excluded", said{v1alpha1.ClusterExcluded, "NotPreferred", "why"}, of(func(p *part) { p.exclude("NotPreferred", "why") }))
	same(t, "silent", said{v1alpha1.ClusterUnreachable, "Timeout", federatedhpatest.Silence().Detail},
		of(func(p *part) { p.silent(federatedhpatest.Silence()) }))
	const message = "the workload is scaled there by HorizontalPodAutoscaler shop/a, HorizontalPodAutoscaler shop/b: delete it, or take " +
		"the cluster out of clusterAffinity"
	a, b := federatedhpatest.HPA("a", func(*autoscalingv2.HorizontalPodAutoscaler) {}),
		federatedhpatest.HPA("b", func(*autoscalingv2.HorizontalPodAutoscaler) {})
	found := claims.On(claims.InMember(federatedhpatest.NewObject("web"), false), &a, &b)
	same(t, "scaled by others", said{v1alpha1.ClusterConflict, "ScaledByOthers", message}, of(func(p *part) { p.conflict(found) }))
}

// The question has all that was gathered, and the clusters that take part.
func TestQuestion(t *testing.T) {
	object := federatedhpatest.NewObject("web")
	object.Generation = 7
	scaled := metav1.NewTime(start.Add(-time.Hour))
	object.Status = v1alpha1.FederatedHPAStatus{ObservedGeneration: new(int64(6)), LastScaleTime: &scaled, CurrentReplicas: 3,
		DesiredReplicas: 4,
		CurrentMetrics:  make([]autoscalingv2.MetricStatus, 1), Conditions: make([]autoscalingv2.HorizontalPodAutoscalerCondition, 2)}
	in := situation{
		Sight: sight.Sight{Object: object, Now: start}, scale: replicas.Scale{Replicas: 5, Selector: "app=web"}, template: federatedhpatest.Full,
		metrics: []replicas.Metric{{Values: []int64{1}}}, state: replicas.State{ScaleUps: []replicas.Change{{Replicas: 1}}},
		options: replicas.Options{Tolerance: 0.2},
		parts: []part{
			{Cluster: &selection.Cluster{Candidate: selection.Candidate{Facts: assignment.ClusterFacts{Name: "east"}}},
				state: v1alpha1.ClusterActive},
			{Cluster: &selection.Cluster{Candidate: selection.Candidate{Facts: assignment.ClusterFacts{Name: "north"}}},
				state: v1alpha1.ClusterExcluded},
			{Cluster: &selection.Cluster{Candidate: selection.Candidate{Facts: assignment.ClusterFacts{Name: "west"}}},
				state: v1alpha1.ClusterConflict},
		},
	}
	want := replicas.Question{
		Namespace: "shop", Generation: 7, Spec: object.Spec.HorizontalPodAutoscalerSpec,
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{ObservedGeneration: new(int64(6)), LastScaleTime: &scaled, CurrentReplicas: 3,
			DesiredReplicas: 4,
			CurrentMetrics:  object.Status.CurrentMetrics, Conditions: object.Status.Conditions},
		Scale: in.scale, Copies: 1, Template: federatedhpatest.Full, Metrics: in.metrics, State: in.state, Options: in.options, Now: start,
		Clusters: []replicas.Cluster{{Name: "east", Replicas: new(int32)}, {Name: "west", Replicas: new(int32)}},
	}
	for i := range in.parts {
		in.parts[i].Pods.Known = true
	}
	same(t, "question", want, in.question())
}

// A cluster may select Pods in its own way.
func TestSelectorOfPart(t *testing.T) {
	for own, want := range map[string]string{"": "app=web", "app=own": "app=own"} {
		p := part{Cluster: &selection.Cluster{Scale: &autoscalingv1.Scale{Status: autoscalingv1.ScaleStatus{Selector: own}}}}
		same(t, "selector", want, p.selector("app=web"))
	}
	unread := part{Cluster: &selection.Cluster{}}
	same(t, "selector where it is not read", "app=web", unread.selector("app=web"))
}

// A selector is parsed once where it is that of the whole, and else each time.
func TestSelectorOf(t *testing.T) {
	in := situation{scale: replicas.Scale{Selector: "app=web"}, parsed: labels.SelectorFromSet(labels.Set{"parsed": "once"})}
	for text, want := range map[string]string{"app=web": "parsed=once", "app=own": "app=own", "": ""} {
		got, err := in.selectorOf(text)
		if err != nil || got.String() != want {
			t.Errorf("%q selects %v, %v, want %q", text, got, err, want)
		}
	}
	in.parsed = nil
	if got, err := in.selectorOf("app=web"); err != nil || got.String() != "app=web" {
		t.Errorf("not parsed yet, it selects %v, %v", got, err)
	}
	if _, err := in.selectorOf("a b"); err == nil {
		t.Error("what cannot be read is no error")
	}
}

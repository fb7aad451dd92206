// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

func TestClusterThatIsSilent(t *testing.T) {
	tests := map[string]struct {
		hide, show func(*member)
		reason     string
	}{
		"as a whole": {func(m *member) { m.Silent = federatedhpatest.Silence() }, func(m *member) { m.Silent = nil },
			"Timeout"},
		"for its Pods":               {func(m *member) { m.hidden = federatedhpatest.Silence() }, func(m *member) { m.hidden = nil }, "Timeout"},
		"for the scale":              {func(m *member) { m.mute = errRefused }, func(m *member) { m.mute = nil }, "Unreachable"},
		"for its autoscalers":        {func(m *member) { m.unknown = true }, func(m *member) { m.unknown = false }, "Timeout"},
		"for its autoscalers so far": {func(m *member) { m.unlisted = true }, func(m *member) { m.unlisted = false }, "Timeout"},
	}
	for name, tc := range tests {
		for _, restarts := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 12))
				for _, m := range w.members {
					m.scales, m.room = false, 4
				}
				w.mustReconcile(3)
				all := map[string]string{"a": "web 1-4, runs 2", "b": "web 1-4, runs 2", "c": "web 1-4, runs 2"}
				same(t, "there is at first", all, w.has())
				w.writes()
				w.Heard()
				tc.hide(w.member("c"))
				w.mustReconcile(1)
				if restarts {
					w.restart()
				}
				w.mustReconcile(19)
				same(t, "written within the grace", nil, toMembers(w.writes()))
				same(t, "c", "c Unreachable 1-4 current 2 ready 2 "+tc.reason, w.clusters()[2])
				same(t, "c's version", "autoscaling/v2", w.object().Status.Clusters[2].HPAVersion)
				same(t, "how long that has been said", 1, len(w.Heard()))
				same(t, "in view", "2/3", w.object().Status.Summary.Clusters)
				w.mustReconcile(2)
				same(t, "there is, after the grace", map[string]string{"a": "web 1-6, runs 2", "b": "web 2-6, runs 2", "c": "web 1-4, runs 2"}, w.has())
				same(t, "heard", []string{"BoundsTakenOver: a: 1-4 to 1-6, b: 1-4 to 2-6"}, w.Heard())
				same(t, "beyond", int32(4), ptr.Deref(w.object().Status.Assignment.UnreachableMax, 0))
				w.writes()
				w.mustReconcile(5)
				same(t, "written", nil, toMembers(w.writes()))
				tc.show(w.member("c"))
				w.mustReconcile(3)
				sum := int32(0)
				for _, c := range w.object().Status.Clusters {
					sum += *c.AssignedMax
				}
				same(t, "the maxima, when it is back", int32(12), sum)
				same(t, "beyond", nil, w.object().Status.Assignment.UnreachableMax)
				same(t, "c", v1alpha1.ClusterActive, w.object().Status.Clusters[2].State)
			})
		}
	}
}

// A cluster that is silent for its Pods only keeps its autoscaler as it is, whatever is in it.
func TestSilentClusterKeepsItsAutoscaler(t *testing.T) {
	tests := map[string]struct {
		order v1alpha1.ScaleDownOrder
		b     string
	}{
		"one that is held": {v1alpha1.ScaleDownStrict, "web 1-9 held, runs 3"},
		"one that waits":   {v1alpha1.ScaleDownBestEffort, "web 1-9 waits 420, runs 3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "Prioritized", map[string]int32{"a": 3, "b": 3}, bounds(1, 12), ranks(map[string]int32{"a": 1, "b": 2}))
			w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment.ScaleDownOrder = tc.order })
			w.settle(2)
			same(t, "b has", tc.b, w.has()["b"])
			w.writes()
			w.member("b").hidden = federatedhpatest.Silence()
			w.mustReconcile(10)
			same(t, "written", nil, toMembers(w.writes()))
			same(t, "b has", tc.b, w.has()["b"])
		})
	}
}

// A split that follows what runs takes from what runs, and is not followed by another one as long as nobody is back.
func TestEditWhileAClusterIsSilentIsSplitOnce(t *testing.T) {
	w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 13, "b": 18, "c": 22}, bounds(13, 60))
	w.mustReconcile(3)
	w.member("a").Silent = federatedhpatest.Silence()
	w.mustReconcile(2)
	w.edit(bounds(3, 22), weighs(map[string]int32{"a": 1, "c": 3}))
	w.mustReconcile(1)
	first := w.has()
	w.mustReconcile(1)
	w.writes()
	w.Heard()
	w.mustReconcile(10)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "heard", nil, w.Heard())
	for name, now := range w.has() {
		same(t, name+" has", strings.Split(first[name], ",")[0], strings.Split(now, ",")[0])
	}
	same(t, "the generation observed", int64(1), *w.object().Status.ObservedGeneration)
	w.member("a").Silent = nil
	w.mustReconcile(5)
	same(t, "the generation observed, when it is back", int64(2), *w.object().Status.ObservedGeneration)
	same(t, "beyond", nil, w.object().Status.Assignment.UnreachableMax)
}

func TestEditWhileAClusterIsSilent(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(3)
	w.member("b").Silent = federatedhpatest.Silence()
	w.edit(bounds(2, 20))
	w.writes()
	w.mustReconcile(2)
	same(t, "written", []string{"a web 1-15"}, toMembers(w.writes()))
	if seen := *w.object().Status.ObservedGeneration; seen != 1 {
		t.Errorf("the status speaks of generation %d, although b does not know it", seen)
	}
	w.member("b").Silent = nil
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
	if seen := *w.object().Status.ObservedGeneration; seen != 2 {
		t.Errorf("the status speaks of generation %d", seen)
	}
}

func TestDecreaseThatFailsHoldsIncreases(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 12))
	w.settle(3)
	w.edit(weighs(map[string]int32{"a": 4, "b": 1, "c": 1}))
	w.member("b").refuses = func(string) error { return errRefused }
	w.writes()
	if err := w.reconcileN(1); err == nil || err.Error() != "cluster b: refused" {
		t.Errorf("said: %v", err)
	}
	same(t, "written", []string{"hub status", "c web 1-2"}, w.writes())
	w.restart() // forgets why, and tries again
	_ = w.reconcileN(1)
	same(t, "written", nil, toMembers(w.writes()))
	w.member("b").refuses = nil
	w.mustReconcile(1)
	same(t, "written", []string{"b web 1-2", "a web 2-8"}, toMembers(w.writes()))
}

func TestIncreaseThatFailsIsTriedAgain(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 12))
	w.settle(3)
	w.edit(bounds(2, 20))
	w.member("b").refuses = func(string) error { return errRefused }
	_ = w.reconcileN(3)
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-6, runs 2"}, w.has())
	same(t, "b", "b Active 1-10 current 2 ready 2 FailedWrite", w.clusters()[1])
	w.member("b").refuses = nil
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
	same(t, "b", "b Active 1-10 current 2 ready 2", w.clusters()[1])
}

// stays has bounds that do not follow capacity.
func stays(f *v1alpha1.FederatedHPA) {
	f.Spec.FederatedHPAAssignment.Rebalance = &v1alpha1.Rebalance{Strategy: v1alpha1.RebalanceNone}
}

// Of a StatefulSet whose Pods are created one after the other the last one waits, so it goes first; of others it need not be it.
func TestPodsOfAStatefulSetAreSpilledIfTheLastOnesWait(t *testing.T) {
	const stays4 = "web 2-7 held, runs 4"
	tests := map[string]struct {
		kind                string
		parallel            bool
		want, because, gone string
	}{
		"Deployment":               {kind: "Deployment", want: "web 2-2 held, runs 4"},
		"Deployment, ill-informed": {kind: "Deployment", parallel: true, want: "web 2-2 held, runs 4"},
		"OrderedReady":             {kind: "StatefulSet", want: "web 2-2 held, runs 4"},
		"Parallel": {kind: "StatefulSet", parallel: true, want: stays4,
			because: "a: spec.podManagementPolicy of StatefulSet \"web\" is Parallel," +
				" so it could lose a Pod that runs", gone: "replicas that find no node can go to other clusters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}), stays,
				func(f *v1alpha1.FederatedHPA) { f.Spec.ScaleTargetRef.Kind = tc.kind })
			w.member("a").parallel = tc.parallel
			w.settle(2)
			w.member("a").room = 2
			w.mustReconcile(2)
			same(t, "said before the delay", "", w.message(v1alpha1.PendingNotMovable))
			w.mustReconcile(6)
			same(t, "a has", tc.want, w.has()["a"])
			said := w.message(v1alpha1.PendingNotMovable)
			if tc.because == "" {
				same(t, "said", "", said)
				return
			}
			same(t, "said", "Pods find no node, and their replicas cannot go to other clusters: "+tc.because, said)
			w.member("a").room = 10
			w.mustReconcile(1)
			same(t, "said once there is room", tc.gone, w.message(v1alpha1.PendingNotMovable))
		})
	}
}

// What cannot be read is not taken for safe, and said; it is asked for only while Pods wait.
func TestPodsOfAStatefulSetThatCannotBeReadStay(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}), stays,
		func(f *v1alpha1.FederatedHPA) { f.Spec.ScaleTargetRef.Kind = "StatefulSet" })
	w.settle(2)
	before := w.member("a").gets
	w.mustReconcile(4)
	same(t, "asked while none waits", before, w.member("a").gets)
	w.member("a").room, w.member("a").unreadable = 2, errRefused
	w.mustReconcile(8)
	same(t, "a has", "web 2-7 held, runs 4", w.has()["a"])
	same(t, "said", "Pods find no node, and their replicas cannot go to other clusters: a: spec.podManagementPolicy of StatefulSet \"web\""+
		" cannot be read: "+errRefused.Error(), w.message(v1alpha1.PendingNotMovable))
}

func TestSpill(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}), stays)
	for _, m := range w.members {
		m.scales = false
	}
	w.member("a").Offset = 10 * period // its clock is ahead
	w.mustReconcile(2)
	w.member("a").room = 2
	w.Heard()
	w.mustReconcile(4)
	same(t, "heard before the delay", nil, w.Heard())
	w.mustReconcile(2)
	same(t, "heard", []string{"MaximumSpilled: a: 2-7 to 2-2, b: 1-3 to 1-8",
		"!ClusterStateChanged: cluster a is Saturated: its nodes take no more Pods of the workload"}, w.Heard())
	same(t, "a", "a Saturated 2-2 current 4 ready 2 Unschedulable", w.clusters()[0])
	same(t, "unschedulable", int32(2), ptr.Deref(w.object().Status.Clusters[0].UnschedulableReplicas, 0))
	same(t, "available", int32(2), ptr.Deref(w.object().Status.Clusters[0].AvailableReplicas, 0))
}

// Pods beyond the replicas, as in a rollout, wait for others to leave.
func TestPodsOfARolloutAreNoPressure(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}), stays)
	w.settle(2)
	w.member("a").room, w.member("a").beyond = 4, 2
	w.writes()
	w.mustReconcile(8)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "unschedulable", int32(0), ptr.Deref(w.object().Status.Clusters[0].UnschedulableReplicas, 0))
}

// What could not be written, and now waits for another cluster, is still not written.
func TestRefusalIsNotForgottenWhileItWaits(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 12))
	w.settle(3)
	refuse := func(string) error { return errRefused }
	w.member("c").refuses = refuse
	w.edit(bounds(3, 15))
	_ = w.reconcileN(2)
	w.member("b").refuses = refuse
	w.edit(weighs(map[string]int32{"a": 9, "b": 1, "c": 8}))
	_ = w.reconcileN(2)
	w.Heard()
	_ = w.reconcileN(6)
	same(t, "heard", nil, w.Heard())
	for _, i := range []int{1, 2} {
		same(t, "reason", "FailedWrite", w.object().Status.Clusters[i].Reason)
	}
}

// A cluster that refuses to get more for longer than the grace loses it to the others, until it takes what it has.
func TestRefusalOfMoreBeyondTheGrace(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(3)
	w.edit(bounds(2, 20))
	w.member("b").refuses = func(string) error { return errRefused }
	_ = w.reconcileN(20)
	same(t, "there is within the grace", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-5, runs 2"}, w.has())
	_ = w.reconcileN(4)
	same(t, "there is after it", map[string]string{"a": "web 1-15, runs 2", "b": "web 1-5, runs 2"}, w.has())
	w.writes()
	w.Heard()
	_ = w.reconcileN(50)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "heard", nil, w.Heard())
	w.member("b").refuses = nil
	w.mustReconcile(4)
	same(t, "there is when it takes it", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
	same(t, "written", []string{"a web 1-10", "b web 1-10"}, toMembers(w.writes()))
}

// A cluster that refuses its first autoscaler for longer than the grace has no part, and is asked again now and then.
func TestRefusalOfTheFirstOneBeyondTheGrace(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	for _, m := range w.members {
		m.scales = false
	}
	w.member("b").refuses = func(string) error { return errRefused }
	_ = w.reconcileN(22)
	same(t, "there is after the grace", map[string]string{"a": "web 2-10, runs 2", "b": "runs 2"}, w.has())
	w.member("b").refuses = nil
	_ = w.reconcileN(30)
	same(t, "there is when it takes it", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

var managed = map[string]string{v1alpha1.ManagedByLabel: "uid-of-web"}

func TestClusterThatLeaves(t *testing.T) {
	tests := map[string]struct {
		before     func(w *world) // before the affinity is changed
		reconciles int
		writes     []string
		has        string
		told       []string
	}{
		"a typo costs nobody a workload": {nil, 5, []string{"c delete web", "a web 1-5", "b web 1-5"}, "runs 2", nil},
		"what we made goes": {func(w *world) { w.member("c").deployment().Labels = managed }, 3,
			[]string{"c delete web", "a web 1-5", "b web 1-5", "c remove web"}, "no workload",
			[]string{`WorkloadDeleted: Deployment "web", which was created for cluster c, was deleted there`}},
		"what another FederatedHPA made stays": {
			func(w *world) {
				w.member("c").deployment().Labels = map[string]string{v1alpha1.ManagedByLabel: "uid-of-another"}
			}, 5,
			[]string{"c delete web", "a web 1-5", "b web 1-5"}, "runs 2", nil},
		"what we made stays while the others are not Ready": {func(w *world) {
			w.member("c").deployment().Labels = managed
			w.member("a").unready = 1
		}, 5, []string{"c delete web", "a web 1-5", "b web 1-5"}, "runs 2", nil},
		"what we made stays while another one is silent": {func(w *world) {
			w.member("c").deployment().Labels = managed
			w.member("a").Silent = federatedhpatest.Silence()
		}, 5, []string{"c delete web", "b web 1-7"}, "runs 2", nil},
		"what we made stays while another one does not have its bounds": {func(w *world) {
			w.member("c").deployment().Labels = managed
			w.member("a").refuses = func(string) error { return errRefused }
		}, 5, []string{"c delete web", "b web 1-5"}, "runs 2", nil},
		"what we made stays while the others run too little": {func(w *world) {
			w.member("c").deployment().Labels = managed
			w.edit(bounds(5, 10))
			for _, m := range w.members {
				m.scales = false
			}
		}, 5, []string{"c delete web", "a web 2-5", "b web 3-5"}, "runs 2", nil},
		"the workload is gone already": {func(w *world) { w.member("c").undeploy() }, 3,
			[]string{"c delete web", "a web 1-5", "b web 1-5"}, "no workload", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2, "c": 2})
			w.mustReconcile(2)
			if tc.before != nil {
				tc.before(w)
			}
			w.edit(only("a", "b"))
			w.writes()
			w.Heard()
			_ = w.reconcileN(tc.reconciles)
			same(t, "written", tc.writes, ignoring(toMembers(w.writes()), " to "))
			same(t, "c has", tc.has, w.has()["c"])
			for _, line := range tc.told {
				if heard := w.Heard(); !contains(heard, line) {
					t.Errorf("heard %q, and not %q", heard, line)
				}
			}
		})
	}
}

func TestClusterThatHasLeftIsForgotten(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.edit(only("a"))
	w.mustReconcile(1)
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2", "b Excluded 0-0 current 2 ready 2 NotSelected"}, w.clusters())
	w.mustReconcile(2)
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2"}, w.clusters())
	w.edit(only("a", "b"))
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
}

func TestClusterThatLeavesUnseenIsNotForgotten(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.edit(only("a"))
	w.member("b").Silent = federatedhpatest.Silence()
	w.mustReconcile(5)
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2", "b Excluded 0-0 current 2 ready 2 NotSelected"}, w.clusters())
	w.member("b").Silent = nil
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 2-10, runs 2", "b": "runs 2"}, w.has())
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2"}, w.clusters())
}

func TestClusterThatIsNotRegisteredAnyMore(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	gone := w.members["b"]
	delete(w.members, "b")
	w.Heard()
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 2-10, runs 2"}, w.has())
	same(t, "heard", []string{
		"BoundsTakenOver: a: 1-5 to 2-10",
		"!ClusterRemoved: no longer registered, so their HorizontalPodAutoscalers are left unchanged: b",
	}, w.Heard())
	w.members["b"] = gone
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
}

// What a cluster had when it was deregistered it keeps when it is registered again, as far as it runs, whatever the others do.
func TestClusterIsRegisteredAgain(t *testing.T) {
	tests := map[string]struct {
		policy  v1alpha1.FederatedHPAAssignmentType
		refuses error
		back    map[string]string
	}{
		"by weight":                  {"StaticWeighted", nil, map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 4"}},
		"by weight, a refuses":       {"StaticWeighted", errRefused, map[string]string{"a": "web 2-10, runs 2", "b": "web 1-5, runs 4"}},
		"by what can run":            {"DynamicWeighted", nil, map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 4"}},
		"by what can run, a refuses": {"DynamicWeighted", errRefused, map[string]string{"a": "web 2-10, runs 2", "b": "web 1-4, runs 4"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, tc.policy, map[string]int32{"a": 2, "b": 2})
			w.settle(2)
			gone := w.members["b"]
			delete(w.members, "b")
			gone.run(4)
			w.mustReconcile(3)
			same(t, "a", "web 2-10, runs 2", w.has()["a"])
			w.members["b"] = gone
			if tc.refuses != nil {
				refusing(w.member("a"), "")
			}
			w.writes()
			_ = w.reconcileN(4)
			same(t, "there is", tc.back, w.has())
			for _, line := range w.writes() {
				if strings.Contains(line, "delete") {
					t.Errorf("written: %s", line)
				}
			}
		})
	}
}

// A cluster is registered again after its part was given to others, and before they got it: they no longer get it.
func TestClusterIsRegisteredAgainBeforeOthersTookItsPlace(t *testing.T) {
	for dies := 0; ; dies++ {
		w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
		w.settle(2)
		gone := w.members["b"]
		delete(w.members, "b")
		w.calls, w.dies = 0, dies
		_ = w.reconcile()
		calls, given := w.calls, w.has()["a"] != "web 1-5, runs 2"
		w.dies = 0
		w.members["b"] = gone
		w.restart()
		w.writes()
		w.mustReconcile(4)
		if written := toMembers(w.writes()); !given && slices.Contains(written, "a web 2-10") {
			t.Errorf("after an end at call %d, written: %v", dies, written)
		}
		same(t, fmt.Sprintf("there is, after an end at call %d", dies), map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"},
			w.has())
		if calls < dies {
			return
		}
	}
}

func TestRemovalIsToldOnceThoughNothingCanBeDone(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	delete(w.members, "b")
	w.placed = placedIn{rule: placement.Duplicated, names: []string{"a"}}
	w.restart()
	w.Heard()
	_ = w.reconcileN(4)
	same(t, "heard", []string{`!RetainReplicasMissing: label Deployment "web" on the hub with resourcetemplate.karmada.io/retain-replicas=true, ` +
		`otherwise Karmada reverts the replicas that the clusters are given` + marker}, w.Heard())
	w.hub.workload = template(map[string]string{sight.RetainReplicas: "true"})
	w.mustReconcile(2)
	same(t, "heard", []string{"BoundsTakenOver: a: 1-5 to 2-10",
		"!ClusterRemoved: no longer registered, so their HorizontalPodAutoscalers are left unchanged: b"}, w.Heard())
}

// A cluster that has left and refuses that we take our autoscaler away holds the others back for the grace, not forever.
func TestRefusalOfOneThatLeftDoesNotHoldTheOthersForEver(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.edit(only("a"))
	w.member("b").refuses = func(string) error { return errRefused }
	_ = w.reconcileN(5)
	same(t, "a has", "web 1-5, runs 2", w.has()["a"])
	_ = w.reconcileN(20)
	same(t, "a has", "web 2-10, runs 2", w.has()["a"])
}

func TestRefusalOfOneThatTakesPartDoesNotHoldTheOthersForEver(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.edit(weighs(map[string]int32{"a": 4, "b": 1}))
	w.member("b").refuses = func(string) error { return errRefused }
	w.Heard()
	_ = w.reconcileN(5)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
	same(t, "AbleToScale", `False FailedWrite: bounds cannot be written: b: refused`,
		w.condition(autoscalingv2.AbleToScale))
	same(t, "clusters", []string{"a Active 2-8 current 2 ready 2", "b Active 1-2 current 2 ready 2 FailedWrite"}, w.clusters())
	same(t, "heard", []string{
		"BoundsSplit: a: 1-5 to 2-8, b: 1-5 to 1-2",
		"!ClusterStateChanged: cluster b rejects writes: refused",
	}, w.Heard())
	_ = w.reconcileN(20)
	same(t, "a has its own part", "web 2-8, runs 2", w.has()["a"])
	same(t, "what b does not give up", int32(3), ptr.Deref(w.object().Status.Assignment.UnreachableMax, 0))
	w.member("b").refuses = nil
	w.mustReconcile(5)
	same(t, "what b does not give up", nil, w.object().Status.Assignment.UnreachableMax)
	same(t, "there is", map[string]string{"a": "web 2-8, runs 2", "b": "web 1-2, runs 2"}, w.has())
}

func contains(all []string, one string) bool {
	for _, line := range all {
		if line == one {
			return true
		}
	}
	return false
}

// ignoring leaves out the lines with the word.
func ignoring(lines []string, word string) (all []string) {
	for _, line := range lines {
		if !strings.Contains(line, word) {
			all = append(all, line)
		}
	}
	return all
}

func TestClusterThatHasLeftIsForgottenWithoutAPreference(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.edit(only("a"), weighs(map[string]int32{"a": 1}))
	w.mustReconcile(3)
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2"}, w.clusters())
	w.edit(only("a", "b"))
	w.mustReconcile(3)
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2", "b Excluded 0-0 current 2 ready ? NotPreferred"}, w.clusters())
}

// Whoever scales it now has use for it.
func TestWorkloadThatWeMadeStaysInAConflict(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.member("b").deployment().Labels = managed
	w.member("b").add("theirs", "web", nil)
	w.member("b").scales = false
	w.mustReconcile(4)
	same(t, "b has", "theirs 3-30 free, runs 2", w.has()["b"])
}

func TestClusterWithoutAPartIsAskedOnceWhatWeMadeThere(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, weighs(map[string]int32{"a": 1}))
	w.mustReconcile(20)
	same(t, "questions", 1, w.member("b").gets)
}

// What was asked before a cluster had a part again says nothing.
func TestWorkloadThatWeMadeGoesTheSecondTime(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, weighs(map[string]int32{"a": 1}))
	w.mustReconcile(2)
	w.edit(weighs(map[string]int32{"a": 1, "b": 1}))
	w.mustReconcile(2)
	w.member("b").deployment().Labels = managed
	w.edit(weighs(map[string]int32{"a": 1}))
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 2-10, runs 2", "b": "no workload"}, w.has())
}

// A policy that comes to divide the replicas ends nothing: what the clusters have stays, and nothing is written until it is corrected.
func TestDividedPlacementLeavesWhatThereIs(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.hub.workload = template(map[string]string{sight.RetainReplicas: "true"})
	w.placed = placedIn{rule: placement.Duplicated, names: []string{"a", "b"}}
	w.restart()
	w.mustReconcile(2)
	before := w.has()
	w.writes()
	w.placed = placedIn{rule: placement.Divided, names: []string{"a"}} // as Karmada does with few replicas
	w.restart()
	w.Heard()
	_ = w.reconcileN(4)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "there is", before, w.has())
	if heard := w.Heard(); len(heard) != 1 || !strings.HasPrefix(heard[0], "!DividedPlacement: ") {
		t.Errorf("heard %q", heard)
	}
	w.placed = placedIn{rule: placement.Duplicated, names: []string{"a", "b"}}
	w.restart()
	w.mustReconcile(2)
	same(t, "there is in the end", before, w.has())
}

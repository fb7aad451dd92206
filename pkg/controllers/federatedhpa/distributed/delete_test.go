// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

var waits = waitsFor("b")

func waitsFor(clusters string) string {
	return "HorizontalPodAutoscalers remain in clusters that cannot be written: " + clusters +
		"; they are removed once the clusters are back; for one that does not come back, delete its registration"
}

func TestDeletion(t *testing.T) {
	tests := map[string]struct {
		policy v1alpha1.DeletionPolicy
		before func(*world)
		waits  string
		has    map[string]string
		then   func(*world) // lets it go
		ends   map[string]string
	}{
		"its autoscalers go": {"Delete", nil, "", map[string]string{"a": "runs 2", "b": "runs 2"}, nil, nil},
		"its autoscalers stay, as nobody's": {"Orphan", nil, "",
			map[string]string{"a": "web 1-5 free, runs 2", "b": "web 1-5 free, runs 2"}, nil, nil},
		"they stay, though the hub has dropped that": {"Orphan", func(w *world) {
			w.edit(func(f *v1alpha1.FederatedHPA) {
				speccopy.Keep(f, speccopy.Of(f))
				f.Spec = v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: f.Spec.HorizontalPodAutoscalerSpec}
			})
		}, "", map[string]string{"a": "web 1-5 free, runs 2", "b": "web 1-5 free, runs 2"}, nil, nil},
		"they stay, though a new leader finds that it was dropped": {"Orphan", func(w *world) {
			w.edit(func(f *v1alpha1.FederatedHPA) {
				speccopy.Keep(f, speccopy.Of(f))
				f.Spec.DeletionPolicy = ""
			})
			w.restart()
		}, "", map[string]string{"a": "web 1-5 free, runs 2", "b": "web 1-5 free, runs 2"}, nil, nil},
		"what we made stays": {"Delete", func(w *world) { w.member("b").deployment().Labels = managed }, "",
			map[string]string{"a": "runs 2", "b": "runs 2"}, nil, nil},
		"a cluster is silent, and comes back": {"Delete", func(w *world) { w.member("b").Silent = federatedhpatest.Silence() }, waits,
			map[string]string{"a": "runs 2", "b": "web 1-5, runs 2"},
			func(w *world) { w.member("b").Silent = nil }, map[string]string{"a": "runs 2", "b": "runs 2"}},
		"a cluster is silent, and its registration goes": {"Delete", func(w *world) { w.member("b").Silent = federatedhpatest.Silence() }, waits,
			map[string]string{"a": "runs 2", "b": "web 1-5, runs 2"},
			func(w *world) { delete(w.members, "b") }, map[string]string{"a": "runs 2"}},
		"a new leader knows of a silent cluster too": {"Delete", func(w *world) { w.member("b").unknown = true; w.restart() }, waits,
			map[string]string{"a": "runs 2", "b": "web 1-5, runs 2"},
			func(w *world) { w.member("b").unknown = false }, map[string]string{"a": "runs 2", "b": "runs 2"}},
		"a new leader knows of one that left while it was silent": {"Delete", func(w *world) {
			w.member("b").Silent = federatedhpatest.Silence()
			w.edit(only("a"))
			w.mustReconcile(2)
			w.member("b").unknown = true
			w.restart()
			w.mustReconcile(2)
			w.Heard()
		}, waits, map[string]string{"a": "runs 2", "b": "web 1-5, runs 2"},
			func(w *world) { w.member("b").unknown, w.member("b").Silent = false, nil }, map[string]string{"a": "runs 2", "b": "runs 2"}},
		"a silent cluster that never had a part": {"Delete", func(w *world) {
			w.member("c").Silent = federatedhpatest.Silence()
		}, "", map[string]string{"a": "runs 2", "b": "runs 2", "c": "no workload"}, nil, nil},
		"a cluster refuses": {"Delete", func(w *world) { w.member("b").refuses = func(string) error { return errRefused } },
			waitsFor("b (refused)"), map[string]string{"a": "runs 2", "b": "web 1-5, runs 2"},
			func(w *world) { w.member("b").refuses = nil }, map[string]string{"a": "runs 2", "b": "runs 2"}},
		"others have one there": {"Delete", func(w *world) { w.member("b").add("theirs", "shop", nil) }, "",
			map[string]string{"a": "runs 2", "b": "theirs 3-30 free, runs 2"}, nil, nil},
		"one that is given, and was not taken over yet": {"Delete", func(w *world) {
			w.member("b").add("theirs", "web", adoptable)
		}, "", map[string]string{"a": "runs 2", "b": "theirs 3-30 free, runs 2"}, nil, nil},
		"two of ours": {"Delete", func(w *world) {
			another := w.member("b").hpas["web"].DeepCopy()
			another.Name, another.UID = "copy", "uid-of-copy"
			w.member("b").store(another, false)
		}, "", map[string]string{"a": "runs 2", "b": "runs 2"}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, func(f *v1alpha1.FederatedHPA) { f.Spec.DeletionPolicy = tc.policy })
			w.settle(4)
			w.Heard()
			if tc.before != nil {
				tc.before(w)
			}
			w.hub.Remove(web)
			w.mustReconcile(1)
			var told []string
			if tc.waits != "" {
				same(t, "AbleToScale", "False WaitingForClusters: "+tc.waits, w.condition(autoscalingv2.AbleToScale))
				same(t, "state", v1alpha1.StateFailing, w.object().Status.Summary.State)
				told = []string{"!WaitingForClusters: " + tc.waits}
				w.mustReconcile(3) // and another leader says no more
				w.restart()
				w.mustReconcile(3)
			}
			same(t, "there is", tc.has, w.has())
			same(t, "heard", told, w.Heard())
			same(t, "the object is gone", tc.waits == "", w.hub.Objects[web] == nil)
			if tc.then != nil {
				tc.then(w)
				if err := w.reconcile(); err != nil || w.hub.Objects[web] != nil {
					t.Errorf("it is still there: %v", err)
				}
				same(t, "there is in the end", tc.ends, w.has())
			}
		})
	}
}

func TestDeletionOfOneThatHasNothing(t *testing.T) {
	w := newWorld(t, "StaticWeighted", func(f *v1alpha1.FederatedHPA) { f.Finalizers = []string{"somebody.else/waits"} })
	w.member("a").add("theirs", "web", nil)
	w.hub.Remove(web)
	w.mustReconcile(1)
	same(t, "written", nil, w.writes())
	same(t, "finalizers", []string{"somebody.else/waits"}, w.object().Finalizers)
}

func TestLeave(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(3)
	w.edit(func(f *v1alpha1.FederatedHPA) {
		f.Spec.FederatedHPAAssignment, f.Spec.DeletionPolicy = nil, v1alpha1.DeletionPolicyOrphan
	})
	w.member("b").Silent = federatedhpatest.Silence()
	w.writes()
	w.Heard()
	for range 3 {
		if left, err := w.leave(); left || err != nil {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	same(t, "AbleToScale", "False WaitingForClusters: "+waits, w.condition(autoscalingv2.AbleToScale))
	same(t, "there is", map[string]string{"a": "runs 2", "b": "web 1-5, runs 2"}, w.has())
	same(t, "heard", []string{"!WaitingForClusters: " + waits}, w.Heard())
	w.member("b").Silent = nil
	w.writes()
	if left, err := w.leave(); !left || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
	same(t, "there is", map[string]string{"a": "runs 2", "b": "runs 2"}, w.has())
	same(t, "written", []string{"b delete web", "hub status", "hub finalizers []"}, w.writes())
	s := w.object().Status
	if s.Assignment != nil || s.Clusters != nil || s.Conditions != nil || s.CurrentReplicas != 4 {
		t.Errorf("the status says %+v", s)
	}
}

func TestLeaveThatCanNotBeStored(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2})
	w.mustReconcile(2)
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = nil })
	w.hub.FailStatus = func() error { return errRefused }
	if left, err := w.leave(); left || err == nil || err.Error() != "writing the status: refused" {
		t.Errorf("left: %v, %v", left, err)
	}
	same(t, "finalizers", []string{v1alpha1.MemberAutoscalersFinalizer}, w.object().Finalizers)
}

// What an object waits for is said again when it is something else.
func TestDeletionTellsOfWhatChanges(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(2)
	w.Heard()
	w.member("a").Silent, w.member("b").Silent = federatedhpatest.Silence(), federatedhpatest.Silence()
	w.hub.Remove(web)
	w.mustReconcile(2)
	w.member("a").Silent = nil
	w.mustReconcile(2)
	same(t, "heard", []string{"!WaitingForClusters: " + waitsFor("a, b"), "!WaitingForClusters: " + waits}, w.Heard())
}

func TestDeletionThatCanNotBeSaid(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2})
	w.mustReconcile(2)
	w.member("a").Silent = federatedhpatest.Silence()
	w.hub.Remove(web)
	w.hub.FailStatus = func() error { return errRefused }
	if err := w.reconcile(); err == nil || err.Error() != "writing the status: refused" {
		t.Errorf("reconciled: %v", err)
	}
}

// A deletion waits for a silent cluster, and for one that rejects writes, but not longer than the grace. Then it says what it left where.
func TestDeletionEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		policy v1alpha1.DeletionPolicy
		change func(*member)
		left   string
	}{
		"silent": {v1alpha1.DeletionPolicyDelete, func(m *member) { m.Silent = federatedhpatest.Silence() },
			"b; they are removed once these are back"},
		"rejects writes": {v1alpha1.DeletionPolicyDelete, func(m *member) { m.refuses = func(string) error { return errRefused } },
			"b (refused); they are removed once these are back"},
		"orphaned": {v1alpha1.DeletionPolicyOrphan, func(m *member) { m.Silent = federatedhpatest.Silence() },
			"b; they stay, with the label fleetscale.io/managed-by, which you can remove"},
	} {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, func(f *v1alpha1.FederatedHPA) { f.Spec.DeletionPolicy = tc.policy })
			w.settle(4)
			tc.change(w.member("b"))
			w.hub.Remove(web)
			w.mustReconcile(2)
			w.Heard()
			w.restart() // the time of the deletion is stored
			w.passes(deletionGrace - 2*period - time.Second)
			w.mustReconcile(1)
			if w.hub.Objects[web] == nil {
				t.Fatal("it is over before the grace is")
			}
			same(t, "heard", []string(nil), w.Heard())
			w.mustReconcile(1)
			if w.hub.Objects[web] != nil {
				t.Error("it still waits")
			}
			same(t, "heard", []string{"!LeftBehind: HorizontalPodAutoscalers are left behind in clusters that could not be written for 1h0m0s: " +
				tc.left}, w.Heard())
		})
	}
}

// What a cluster says may read otherwise each time: which clusters are waited for is told once.
func TestDeletionTellsOnceOfWhatReadsOtherwise(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(4)
	w.Heard()
	tries := 0
	w.member("b").refuses = func(string) error { tries++; return fmt.Errorf("try %d is refused", tries) }
	w.hub.Remove(web)
	w.mustReconcile(4)
	same(t, "heard", []string{"!WaitingForClusters: " + waitsFor("b (try 1 is refused)")}, w.Heard())
	same(t, "tries", 4, tries)
}

// Autoscalers name the hub that removes them once their object is gone, unless they are to stay then.
func TestWhoRemovesWhatIsLeft(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2})
	by := func() string {
		w.mustReconcile(2)
		return w.member("a").hpas["web"].Annotations[v1alpha1.RemovedByAnnotation]
	}
	same(t, "where no hub is known", "", by())
	w.program.Hub = func() string { return "uid-of-hub" }
	same(t, "removed by", "uid-of-hub", by())
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan })
	same(t, "removed by, once it is to stay", "", by())
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete })
	same(t, "removed by", "uid-of-hub", by())
	w.writes()
	w.mustReconcile(2)
	same(t, "written later", nil, w.writes())
}

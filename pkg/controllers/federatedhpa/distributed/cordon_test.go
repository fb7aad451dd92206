// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

func TestClusterThatIsCordoned(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 8))
	w.settle(3)
	same(t, "there is at first", map[string]string{"a": "web 1-4, runs 2", "b": "web 1-4, runs 2"}, w.has())
	w.writes()
	w.Heard()
	w.member("b").Annotate(taints.CordonAnnotation)
	w.mustReconcile(3)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "b", "b Active 1-4 current 2 ready 2 Cordoned", w.clusters()[1])
	message := "it gets no more, by its taint fleetscale.io/cordon=true:NoSchedule"
	same(t, "why", message, w.object().Status.Clusters[1].Message)
	same(t, "heard", []string{"ClusterStateChanged: cluster b is Cordoned: " + message}, w.Heard())

	w.edit(bounds(6, 20))
	w.member("c").deploy(0)
	w.member("c").Annotate(taints.CordonAnnotation)
	w.settle(4)
	same(t, "there is after an edit", map[string]string{"a": "web 5-16, runs 2", "b": "web 1-4, runs 2", "c": "runs 0"}, w.has())
	w.Heard()

	w.edit(func(f *v1alpha1.FederatedHPA) {
		f.Spec.ClusterTolerations = []corev1.Toleration{{Key: taints.CordonAnnotation, Operator: corev1.TolerationOpExists}}
	})
	w.settle(4)
	same(t, "there is where that is tolerated",
		map[string]string{"a": "web 2-6, runs 2", "b": "web 2-7, runs 2", "c": "web 2-7, runs 2"}, w.has())
}

func TestClusterThatIsNoLongerCordoned(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 8))
	w.settle(3)
	w.member("b").Annotate(taints.CordonAnnotation)
	w.mustReconcile(2)
	w.edit(bounds(2, 20))
	w.settle(3)
	same(t, "while it is", map[string]string{"a": "web 1-16, runs 2", "b": "web 1-4, runs 2"}, w.has())
	w.Heard()
	w.member("b").Annotate("")
	w.mustReconcile(2)
	same(t, "then", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
	same(t, "heard",
		[]string{"BoundsSplit: a: 1-16 to 1-10, b: 1-4 to 1-10", "ClusterStateChanged: cluster b is no longer Cordoned"}, w.Heard())
}

// However little was written of what was decided before a cluster is cordoned or drained: it gets no more of it, and others do.
func TestCordonedBeforeItGetsWhatWasDecided(t *testing.T) {
	for _, annotation := range []string{taints.CordonAnnotation, taints.DrainAnnotation} {
		kept := 0
		for dies := 1; ; dies++ {
			w := settledFleet("StaticWeighted", bounds(6, 10))(t)
			w.edit(weighs(map[string]int32{"a": 1, "b": 3, "c": 1}))
			w.calls, w.dies = 0, dies
			w.move()
			calls, had := w.calls, w.has()["b"]
			if w.member("b").Annotate(annotation); had == "web 2-3, runs 2" {
				kept++
			}
			w.dies = 0
			w.restart()
			for range 4 {
				w.passes(period)
				w.move()
			}
			has := w.has()["b"]
			if annotation == taints.CordonAnnotation {
				same(t, fmt.Sprintf("b has, where the program ended at call %d", dies), had, has)
			} else if !strings.HasPrefix(has, "web 1-2,") && has != "runs 0" {
				t.Errorf("b has %s, where the program ended at call %d, and it had %s", has, dies, had)
			}
			if t.Failed() || calls < dies {
				break
			}
		}
		if kept == 0 {
			t.Errorf("%s: nothing was decided that was not written", annotation)
		}
	}
}

// Where all others are at zero, those that are needed begin, whoever takes them there and back, and the drain ends.
func TestDrainedClusterWhereOthersAreAtZero(t *testing.T) {
	for _, mode := range []v1alpha1.ScalingToZeroMode{v1alpha1.ScalingToZeroController, v1alpha1.ScalingToZeroNative} {
		t.Run(string(mode), func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, bounds(1, 10),
				weighs(map[string]int32{"a": 3, "b": 2, "c": 1}), func(f *v1alpha1.FederatedHPA) {
					if f.Spec.ScalingToZeroMode = mode; mode == v1alpha1.ScalingToZeroNative {
						f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("10"))
					}
				})
			w.uses = func(*member) int32 { return 20 }
			w.mustReconcile(30)
			for name, m := range w.members {
				if name != "a" {
					m.run(0)
				}
			}
			w.mustReconcile(2)
			same(t, "what runs", "1 0 0", fmt.Sprint(w.member("a").deployment().Replicas, w.member("b").deployment().Replicas,
				w.member("c").deployment().Replicas))
			w.member("a").Annotate(taints.DrainAnnotation)
			w.mustReconcile(8)
			if has := w.has(); has["a"] != "runs 0" || w.runs() == 0 {
				t.Errorf("it does not end: %v", has)
			}
			w.writes()
			w.mustReconcile(5)
			same(t, "written at rest", nil, toMembers(w.writes()))
		})
	}
}

// A cordoned cluster at zero may not begin, so the others get its part; it gets one again when it is free.
func TestCordonedClusterAtZero(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1}, toZero, bounds(1, 10))
	w.uses = func(*member) int32 { return 20 }
	w.mustReconcile(30)
	same(t, "one is at zero", map[string]string{"a": "web 1-5, runs 0", "b": "web 1-5, runs 1"}, w.has())
	w.member("a").Annotate(taints.CordonAnnotation)
	w.mustReconcile(3)
	same(t, "while it is cordoned", map[string]string{"a": "runs 0", "b": "web 1-10, runs 1"}, w.has())
	same(t, "a", "a Excluded 0-0 current 0 ready 0 Cordoned", w.clusters()[0])
	w.member("a").Annotate("")
	w.mustReconcile(3)
	same(t, "when it is free", map[string]string{"a": "web 1-5, runs 0", "b": "web 1-5, runs 1"}, w.has())
}

// A cluster that is drained goes to zero as soon as the others run the minimum of the fleet, and not before.
func TestClusterThatIsDrained(t *testing.T) {
	policies := []v1alpha1.FederatedHPAAssignmentType{"StaticWeighted", "DynamicWeighted", "Aggregated", "Prioritized", "Duplicated"}
	for _, policy := range policies {
		t.Run(string(policy), func(t *testing.T) {
			w := fleetOf(t, policy, map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(6, 12))
			for _, m := range w.members {
				m.room = 4
			}
			w.mustReconcile(30)
			w.member("c").Annotate(taints.DrainAnnotation)
			for range 40 {
				w.mustReconcile(1)
				if runs := w.runs(); runs < 6 {
					t.Fatalf("%d run: %v", runs, w.has())
				}
			}
			same(t, "c", "runs 0", w.has()["c"])
			same(t, "its reason", "Drained", w.object().Status.Clusters[2].Reason)
			same(t, "it can scale", corev1.ConditionTrue, summary.Condition(&w.object().Status, autoscalingv2.AbleToScale).Status)

			w.member("c").Annotate("")
			w.mustReconcile(4)
			if static := policy == "StaticWeighted" || policy == "Duplicated"; static && w.has()["c"] == "runs 0" {
				t.Errorf("c does not begin again: %v", w.has())
			}
		})
	}
}

func (w *world) runs() (n int32) {
	for _, m := range w.members {
		n += m.deployment().Replicas
	}
	return n
}

// A silent cluster has no grace once it is drained, holds up nobody, and goes to zero when it is back.
func TestSilentClusterThatIsDrained(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 12))
		for _, m := range w.members {
			m.scales, m.room = false, 4
		}
		w.mustReconcile(3)
		w.member("c").Silent = federatedhpatest.Silence()
		w.mustReconcile(2)
		w.writes()
		w.Heard()
		w.member("c").Annotate(taints.DrainAnnotation)
		if restarts {
			w.restart()
		}
		w.mustReconcile(2)
		same(t, "there is", map[string]string{"a": "web 1-6, runs 2", "b": "web 2-6, runs 2", "c": "web 1-4, runs 2"}, w.has())
		same(t, "c", "c Unreachable 1-4 current 2 ready 2 Drained", w.clusters()[2])
		visible := summary.Condition(&w.object().Status, v1alpha1.FleetVisible)
		same(t, "the fleet is visible", "True all clusters are visible that are not drained", string(visible.Status)+" "+visible.Message)
		w.edit(bounds(4, 20))
		w.mustReconcile(2)
		same(t, "after an edit", "web 2-10, runs 2 web 2-10, runs 2", w.has()["a"]+" "+w.has()["b"])
		same(t, "observed", w.object().Generation, *w.object().Status.ObservedGeneration)

		w.member("c").Silent = nil
		w.mustReconcile(3)
		same(t, "when it is back", map[string]string{"a": "web 2-10, runs 2", "b": "web 2-10, runs 2", "c": "runs 0"}, w.has())
		w.writes()
		w.mustReconcile(5)
		same(t, "written", nil, toMembers(w.writes()))
	}
}

// A drained cluster that takes nothing does not hold the others back.
func TestDrainedClusterThatRefuses(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 8))
	w.settle(3)
	w.member("b").refuses = func(string) error { return errRefused }
	w.member("b").Annotate(taints.DrainAnnotation)
	for range 3 {
		_ = w.reconcileN(1)
	}
	same(t, "there is", map[string]string{"a": "web 2-8, runs 2", "b": "web 1-4, runs 2"}, w.has())
	w.member("b").refuses = nil
	_ = w.reconcileN(2)
	w.mustReconcile(2)
	same(t, "when it takes it", map[string]string{"a": "web 2-8, runs 2", "b": "runs 0"}, w.has())
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// byArgo is who sets back, as an API server stores it.
var byArgo = []any{map[string]any{
	"manager": "argocd-controller", "operation": "Update", "time": "2027-03-01T09:00:00Z", "fieldsType": "FieldsV1",
	"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}, "f:maxReplicas": map[string]any{}}},
}}

// setBack is a tool that has the autoscaler of a member as it is kept elsewhere. It returns how often it had to.
func (m *member) setBack(as *autoscalingv2.HorizontalPodAutoscaler) bool {
	m.Lock()
	defer m.Unlock()
	if placedOf(m.hpas[as.Name].HorizontalPodAutoscaler) == placedOf(as) {
		return false
	}
	there := m.hpas[as.Name].DeepCopy()
	there.Spec = as.Spec
	m.store(there, true)
	return true
}

// Bounds that are set back each time are not written for a while: the status says by whom, the cluster keeps what it has, and the others
// get no more than it leaves, but for its part once they no longer wait for it.
func TestBoundsThatAreSetBack(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(4)
	kept := w.member("b").hpas["web"].DeepCopy()
	w.member("b").setBy = byArgo
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 20 })
	w.Heard()
	setBack := 0
	live := func(n int) {
		for range n {
			w.mustReconcile(1)
			if w.member("b").setBack(kept) {
				setBack++
			}
		}
	}
	live(6)
	same(t, "set back", 3, setBack)
	const story = `the bounds of HorizontalPodAutoscaler "web" in cluster b were set back from 1-10 to 1-5, 3 times in a row, the last time by ` +
		`the field manager "argocd-controller". They are next written at `
	said := w.condition(autoscalingv2.AbleToScale)
	if !strings.HasPrefix(said, "False ScaleUndone: "+story) || !strings.HasSuffix(said, "have that leave it unchanged") {
		t.Errorf("AbleToScale: %s", said)
	}
	same(t, "state", v1alpha1.StateFailing, w.object().Status.Summary.State)
	told := 0
	for _, event := range w.Heard() {
		if strings.HasPrefix(event, "!ScaleUndone: "+story) {
			told++
		}
	}
	same(t, "Events", 1, told)
	same(t, "counted", 3, testutil.ToFloat64(w.program.Metrics.undone.WithLabelValues("b", "apply")))
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-5, runs 2"}, w.has())

	for range 24 { // a pause of five minutes, and a part of one of ten
		live(1)
		same(t, "state", v1alpha1.StateFailing, w.object().Status.Summary.State)
	}
	same(t, "set back after a pause", 4, setBack)
	for _, event := range w.Heard() {
		if strings.Contains(event, "ScaleUndone") || strings.Contains(event, "ClusterChanged") {
			t.Errorf("heard again: %s", event)
		}
	}
	same(t, "the others have what it does not take", int32(15), w.member("a").hpas["web"].Spec.MaxReplicas)

	for range 4 * 15 { // the tool is gone
		w.mustReconcile(1)
	}
	same(t, "there is in the end", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
	same(t, "AbleToScale in the end", "True ReadyForNewScale: the bounds are split among 2 clusters", w.condition(autoscalingv2.AbleToScale))
}

// A spec that changes ends the pause.
func TestBoundsThatAreSetBackUntilTheSpecChanges(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(4)
	kept := w.member("b").hpas["web"].DeepCopy()
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 20 })
	for range 6 {
		w.mustReconcile(1)
		w.member("b").setBack(kept)
	}
	if said := w.condition(autoscalingv2.AbleToScale); !strings.Contains(said, "the last time by somebody. ") {
		t.Errorf("AbleToScale: %s", said)
	}
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 16 })
	w.mustReconcile(4)
	same(t, "there is", map[string]string{"a": "web 1-8, runs 2", "b": "web 1-8, runs 2"}, w.has())
}

// The same holds for bounds that become less: the others get no more than is left meanwhile.
func TestLowerBoundsThatAreSetBack(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(4)
	kept := w.member("b").hpas["web"].DeepCopy()
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 6 })
	setBack := 0
	for range 12 {
		w.mustReconcile(1)
		if w.member("b").setBack(kept) {
			setBack++
		}
	}
	same(t, "set back", 3, setBack)
	same(t, "there is", map[string]string{"a": "web 1-3, runs 2", "b": "web 1-5, runs 2"}, w.has())
}

// A workload that is brought back each time that it is taken to zero stays as it is for a while, and another cluster is taken there.
func TestZeroThatIsSetBack(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, weighs(map[string]int32{"a": 1, "b": 2, "c": 3}))
	w.uses = func(*member) int32 { return 20 }
	a := w.member("a")
	a.setBy = byArgo
	setBack := 0
	live := func(n int) {
		for range n {
			w.mustReconcile(1)
			if a.deployment().Replicas == 0 {
				a.run(1)
				setBack++
			}
		}
	}
	for setBack < 3 {
		live(1)
	}
	live(10)
	same(t, "set back", 3, setBack)
	said := w.condition(autoscalingv2.AbleToScale)
	if !strings.HasPrefix(said, `False ScaleUndone: the replicas of Deployment "web" in cluster a, which was to run none, were set back, 3 times `+
		`in a row, the last time by the field manager "argocd-controller". `) {
		t.Errorf("AbleToScale: %s", said)
	}
	same(t, "counted", 3, testutil.ToFloat64(w.program.Metrics.undone.WithLabelValues("a", "scale")))
	for range 60 { // the tool is gone
		w.mustReconcile(1)
	}
	same(t, "another is at zero in the end",
		map[string]string{"a": "web 1-1, runs 1", "b": "web 1-4, runs 0", "c": "web 1-5, runs 1"}, w.has())
	same(t, "AbleToScale in the end", "True ReadyForNewScale: the bounds are split among 3 clusters", w.condition(autoscalingv2.AbleToScale))
}

// An autoscaler that is deleted each time is not made for a while, and the others get its part once they no longer wait for it.
func TestAutoscalerThatIsDeletedEachTime(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(2)
	deleted := 0
	live := func(n int) {
		for range n {
			w.mustReconcile(1)
			if hpas := w.member("b").hpas; len(hpas) > 0 {
				clear(hpas)
				deleted++
			}
		}
	}
	live(15)
	same(t, "deleted", 3, deleted)
	said := w.condition(autoscalingv2.AbleToScale)
	if !strings.HasPrefix(said, `False ScaleUndone: the bounds of HorizontalPodAutoscaler "web" in cluster b were deleted with it, `+
		"3 times in a row, the last time by somebody. They are next written at ") {
		t.Errorf("AbleToScale: %s", said)
	}
	same(t, "counted", 3, testutil.ToFloat64(w.program.Metrics.undone.WithLabelValues("b", "apply")))
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "runs 2"}, w.has())

	live(24) // the pause of five minutes, and a part of one of ten
	same(t, "deleted after a pause", 4, deleted)
	same(t, "the others have what it does not take", map[string]string{"a": "web 2-10, runs 2", "b": "runs 2"}, w.has())

	w.mustReconcile(4 * 15) // nobody deletes it any more
	same(t, "there is in the end", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
	same(t, "AbleToScale in the end", "True ReadyForNewScale: the bounds are split among 2 clusters", w.condition(autoscalingv2.AbleToScale))
}

// A mirror that shows nothing for long is not taken for somebody who deletes.
func TestAutoscalerThatIsLongUnknown(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(0)
	w.member("b").freeze()
	w.mustReconcile(30)
	same(t, "AbleToScale", "True ReadyForNewScale: the bounds are split among 2 clusters", w.condition(autoscalingv2.AbleToScale))
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
}

// A pause ends when the autoscaler whose bounds were set back is deleted.
func TestBoundsThatAreSetBackUntilTheAutoscalerIsDeleted(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(4)
	kept := w.member("b").hpas["web"].DeepCopy()
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 20 })
	for range 6 {
		w.mustReconcile(1)
		w.member("b").setBack(kept)
	}
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-5, runs 2"}, w.has())
	clear(w.member("b").hpas)
	w.mustReconcile(3)
	same(t, "there is once it was deleted", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
}

// That a further autoscaler of ours is removed says nothing of the one whose bounds are set back.
func TestRemovalOfAFurtherAutoscaler(t *testing.T) {
	own, further := &autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{}
	own.Spec.MaxReplicas = 5
	fought := setbacks{}
	fought.ofHPA = fought.ofHPA.Writes(placedOf(own), placed{upper: 10}, 1, start)
	r := &site{own: own, surplus: []*autoscalingv2.HorizontalPodAutoscaler{further}}
	r.setbacks = fought
	r.lost(further)
	r.noted(change{site: r, remove: further}, placedOf(own), true, 1, start)
	same(t, "is forgotten with a further one", false, r.ofHPA.Blank())
	r.lost(own)
	r.noted(change{site: r, remove: own}, placedOf(own), true, 1, start)
	same(t, "is forgotten with it", true, r.ofHPA.Blank())
}

// contested has the bounds of cluster b set back until they are paused, and returns what sets them back. It is selected and
// preferred for its labels.
func contested(t *testing.T, change ...func(*v1alpha1.FederatedHPA)) (w *world, kept *autoscalingv2.HorizontalPodAutoscaler) {
	t.Helper()
	labelled := func(key string) *v1alpha1.ClusterAffinity {
		return &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: "true"}}}
	}
	change = append(change, func(f *v1alpha1.FederatedHPA) {
		f.Spec.ClusterAffinity = labelled("selected")
		for _, target := range []*v1alpha1.ClusterAffinity{{ClusterNames: []string{"a"}}, labelled("preferred")} {
			f.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference = append(f.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference,
				v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: target, StaticWeight: new(int32(1))})
		}
	})
	w = fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, change...)
	w.member("a").About.Labels = map[string]string{"selected": "true"}
	w.member("b").About.Labels = map[string]string{"selected": "true", "preferred": "true"}
	w.settle(4)
	kept = w.member("b").hpas["web"].DeepCopy()
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 20 })
	for range 6 {
		w.mustReconcile(1)
		w.member("b").setBack(kept)
	}
	same(t, "b", record.ReasonScaleUndone, clusterOf(w, "b").Reason)
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-5, runs 2"}, w.has())
	return w, kept
}

// A cluster that takes no part any more while its bounds are paused is left, and holds nobody back.
func TestLeavingWhileBoundsAreSetBack(t *testing.T) {
	tests := map[string]func(*world){
		"no longer selected":     func(w *world) { w.member("b").About.Labels = map[string]string{"preferred": "true"} },
		"no longer preferred":    func(w *world) { w.member("b").About.Labels = map[string]string{"selected": "true"} },
		"without a selector":     func(w *world) { w.member("b").deployment().Selector = "" },
		"scaled by others":       func(w *world) { w.member("b").add("legacy", "web", nil) },
		"too old for the metric": func(w *world) { w.member("b").version = "autoscaling/v2beta2" },
	}
	for name, leave := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := contested(t, byContainer)
			leave(w)
			w.mustReconcile(4)
			there := w.has()
			same(t, "in a", "web 2-20, runs 2", there["a"])
			if strings.Contains(there["b"], "web ") {
				t.Errorf("in b: %s", there["b"])
			}
		})
	}
}

// A new leader gives a cluster its part again whose bounds were set back for so long that the others had got it.
func TestRestartWhileBoundsAreSetBack(t *testing.T) {
	w, kept := contested(t)
	for range 24 {
		w.mustReconcile(1)
		w.member("b").setBack(kept)
	}
	same(t, "there is", map[string]string{"a": "web 1-15, runs 2", "b": "web 1-5, runs 2"}, w.has())
	w.restart()
	w.mustReconcile(4)
	same(t, "there is after a restart", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
}

// Those of higher priorities shrink, though not at once, where the one of the lowest is given a minimum by others each time.
func TestMinimumThatIsSetBackHoldsNobodyForEver(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 2, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}))
	w.settle(4)
	kept := w.member("b").hpas["web"].DeepCopy()
	kept.Spec.MinReplicas = new(int32(3))
	holds := func(n int) bool {
		for range n {
			w.member("b").setBack(kept)
			w.mustReconcile(1)
		}
		return held(w.member("a").hpas["web"].HorizontalPodAutoscaler)
	}
	same(t, "holds while it is waited for", true, holds(8))
	same(t, "b", record.ReasonScaleUndone, clusterOf(w, "b").Reason)
	same(t, "holds once it is given up", false, holds(24))
}

// What is tried after a pause is still said to be set back, until it would stand.
func TestReasonWhileItIsTried(t *testing.T) {
	at := func(after time.Duration) time.Time { return start.Add(after) }
	fought := setbacks{}
	for i := range 3 {
		now := at(time.Duration(i) * time.Minute)
		fought.ofHPA = fought.ofHPA.Writes(placed{upper: 5}, placed{upper: 10}, 1, now).Sees(placed{upper: 5}, 1, now)
		fought.ofScale = fought.ofScale.Writes(true, false, 1, now).Sees(true, 1, now)
	}
	for name, s := range map[string]setbacks{"bounds": {ofHPA: fought.ofHPA}, "replicas": {ofScale: fought.ofScale}} {
		for _, test := range []struct {
			after    time.Duration
			reason   string
			presence assignment.Presence
		}{
			{7*time.Minute - 1, record.ReasonScaleUndone, assignment.Refusing},
			{7 * time.Minute, record.ReasonScaleUndone, assignment.Present},
			{12*time.Minute - 1, record.ReasonScaleUndone, assignment.Present},
			{12 * time.Minute, "", assignment.Present},
		} {
			r := &site{Cluster: &selection.Cluster{}, clusterMemory: clusterMemory{setbacks: s}}
			r.contest(s, &situation{Sight: sight.Sight{Object: newObject("StaticWeighted"), Now: at(test.after)}, options: &Options{Grace: grace}})
			same(t, fmt.Sprint(name, " after ", test.after), test.reason, r.reason)
			if name == "bounds" {
				same(t, fmt.Sprint("presence after ", test.after), test.presence, r.presence)
			}
		}
	}
}

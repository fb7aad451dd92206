// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

var adoptable = map[string]string{v1alpha1.AdoptByAnnotation: "web"}

func TestAutoscalersOfOthers(t *testing.T) {
	const how = ": delete it, annotate it with fleetscale.io/adopt-by: web, or take the cluster out of clusterAffinity"
	const taken = "HorizontalPodAutoscaler shop/web has the name of ours there, and scales something else: " +
		"delete it, give the FederatedHPA another name, or take the cluster out of clusterAffinity"
	tests := map[string]struct {
		theirs func(*member) // what is in b before the first reconcile
		has    string
		status string
		why    string
	}{
		"one that scales the workload": {
			func(m *member) { m.add("legacy", "web", nil) },
			"legacy 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/legacy" + how},
		"two of them": {
			func(m *member) { m.add("legacy", "web", nil); m.add("other", "web", nil) },
			"legacy 3-30 free, other 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/legacy, HorizontalPodAutoscaler shop/other" + how},
		"one that has the name of ours": {
			func(m *member) { m.add("web", "shop", nil) },
			"web 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			taken},
		"one that has the name of ours and is given to us, but scales something else": {
			func(m *member) { m.add("web", "shop", adoptable) },
			"web 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			taken},
		"one that scales the workload, and one that has the name": {
			func(m *member) { m.add("legacy", "web", nil); m.add("web", "shop", nil) },
			"legacy 3-30 free, web 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/legacy" + how + "; " + taken},
		"one that scales something else": {
			func(m *member) { m.add("shop", "shop", nil) },
			"shop 3-30 free, web 1-5, runs 3", "b Active 1-5 current 3 ready 3", ""},
		"one that is given to us": {
			func(m *member) { m.add("legacy", "web", adoptable) },
			"legacy 1-5, runs 3", "b Active 1-5 current 3 ready 3", ""},
		"one that is given to another": {
			func(m *member) { m.add("legacy", "web", map[string]string{v1alpha1.AdoptByAnnotation: "shop"}) },
			"legacy 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/legacy" + how},
		"one of another hub's FederatedHPA of our name, given to that": {
			func(m *member) {
				m.add("web", "web", adoptable)
				m.hpas["web"].Labels = map[string]string{v1alpha1.ManagedByLabel: "uid-at-the-other-hub"}
			},
			"web 3-30, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/web (of another FederatedHPA): " +
				"delete it, or take the cluster out of clusterAffinity"},
		"one of two is given to us": {
			func(m *member) { m.add("legacy", "web", adoptable); m.add("other", "web", nil) },
			"legacy 3-30 free, other 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/other" + how},
		"two are given to us": {
			func(m *member) { m.add("legacy", "web", adoptable); m.add("other", "web", adoptable) },
			"legacy 1-5, runs 3", "b Active 1-5 current 3 ready 3", ""},
		"one of another version of the kind": {
			func(m *member) {
				m.add("legacy", "web", nil)
				m.hpas["legacy"].Spec.ScaleTargetRef.APIVersion = "apps/v1beta1"
			},
			"legacy 3-30 free, runs 3", "b Conflict 0-0 current ? ready ? ScaledByOthers",
			"the workload is scaled there by HorizontalPodAutoscaler shop/legacy" + how},
		"one of another group": {
			func(m *member) {
				m.add("legacy", "web", nil)
				m.hpas["legacy"].Spec.ScaleTargetRef.APIVersion = "example.com/v1"
			},
			"legacy 3-30 free, web 1-5, runs 3", "b Active 1-5 current 3 ready 3", ""},
		"one of another kind": {
			func(m *member) {
				m.add("legacy", "web", nil)
				m.hpas["legacy"].Spec.ScaleTargetRef.Kind = "StatefulSet"
			},
			"legacy 3-30 free, web 1-5, runs 3", "b Active 1-5 current 3 ready 3", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
			for _, m := range w.members {
				m.scales = false
			}
			tc.theirs(w.member("b"))
			w.mustReconcile(4)
			same(t, "b has", tc.has, w.has()["b"])
			same(t, "the status of b", tc.status, w.clusters()[1])
			same(t, "why", tc.why, w.object().Status.Clusters[1].Message)
		})
	}
}

func TestConflictComesAndGoes(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.settle(3)
	w.writes()
	w.Heard()
	b := w.member("b")
	b.add("legacy", "web", nil)
	w.mustReconcile(1)
	same(t, "written", []string{"hub status", "b delete web", "a web 2-10"}, w.writes())
	same(t, "heard", []string{"BoundsTakenOver: a: 1-5 to 2-10, b: 1-5 to 0-0",
		"!ClusterStateChanged: cluster b is Conflict: the workload is scaled there by HorizontalPodAutoscaler shop/legacy: " +
			"delete it, annotate it with fleetscale.io/adopt-by: web, or take the cluster out of clusterAffinity"}, w.Heard())
	since := w.object().Status.Clusters[1].Since
	w.mustReconcile(3)
	same(t, "since", since, w.object().Status.Clusters[1].Since)
	same(t, "written", nil, toMembers(w.writes()))
	delete(b.hpas, "legacy")
	w.mustReconcile(1)
	same(t, "written", []string{"a web 1-5", "b web 1-5"}, toMembers(w.writes()))
	same(t, "heard", []string{"BoundsSplit: a: 2-10 to 1-5, b: 0-0 to 1-5", "ClusterStateChanged: cluster b is Active"}, w.Heard())
}

func TestOneThatIsGivenToUsLaterIsTakenOver(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.member("b").add("legacy", "web", nil)
	w.mustReconcile(3)
	legacy := w.member("b").hpas["legacy"].DeepCopy()
	legacy.Annotations = adoptable
	w.member("b").store(legacy, false)
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 3", "b": "legacy 1-5, runs 3"}, w.has())
	w.hub.Remove(web)
	w.mustReconcile(2)
	same(t, "there is, once the object is deleted", map[string]string{"a": "runs 3", "b": "runs 3"}, w.has())
}

// What is given to us stays somebody's until we take it over: not where the cluster has no part.
func TestOneThatIsGivenToUsStaysWhereTheClusterHasNoPart(t *testing.T) {
	for name, change := range map[string]func(*world){
		"not selected":  func(w *world) { w.edit(only("a")) },
		"in a conflict": func(w *world) { w.member("b").add("third", "web", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
			w.mustReconcile(3)
			w.member("b").add("xlegacy", "web", adoptable)
			w.member("b").scales = false
			change(w)
			w.mustReconcile(4)
			if w.member("b").hpas["xlegacy"] == nil || w.member("b").hpas["web"] != nil {
				t.Errorf("b has %v", w.member("b"))
			}
		})
	}
}

func TestFurtherOnesOfOursGo(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.mustReconcile(3)
	another := w.member("b").hpas["web"].DeepCopy()
	another.Name, another.UID = "copy", "uid-of-copy"
	w.member("b").store(another, false)
	w.edit(bounds(2, 20))
	w.writes()
	w.mustReconcile(1)
	same(t, "written", []string{"hub status", "b delete web", "a web 1-10", "b copy 1-10"}, w.writes())
	w.mustReconcile(2)
	same(t, "written", nil, toMembers(w.writes()))
}

func TestNothingGrowsWhileAFurtherOneOfOursStays(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.mustReconcile(3)
	another := w.member("b").hpas["web"].DeepCopy()
	another.Name, another.UID = "copy", "uid-of-copy"
	w.member("b").store(another, false)
	w.member("b").refuses = func(what string) error {
		if what == "delete" {
			return errRefused
		}
		return nil
	}
	w.edit(bounds(2, 20))
	w.writes()
	if err := w.reconcile(); err == nil || err.Error() != "cluster b: refused" {
		t.Errorf("said %v", err)
	}
	same(t, "written", []string{"hub status"}, w.writes())
}

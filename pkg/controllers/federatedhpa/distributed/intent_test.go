// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
)

// ordersOne reconciles until a cluster is told to run nothing, and says which; the write does not come through.
func ordersOne(t *testing.T, w *world) string {
	t.Helper()
	for range 60 {
		_ = w.reconcileN(1)
		for _, c := range w.object().Status.Clusters {
			if c.AssignedReplicas != nil && *c.AssignedReplicas == 0 {
				return c.Name
			}
		}
	}
	t.Fatal("no cluster is told to run nothing")
	return ""
}

// An order to zero that could not be carried out is dropped when the load has risen: Ready Pods are not deleted.
func TestStaleOrderToZero(t *testing.T) {
	for name, away := range map[string]bool{"the cluster refuses it": false, "the program ends before it": true} {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, bounds(2, 60))
			percent, refuse := int32(20), true
			w.uses = func(*member) int32 { return percent }
			for _, m := range w.members {
				m.refuses = func(what string) error {
					if refuse && what == "scale" {
						return errRefused
					}
					return nil
				}
			}
			ordered := ordersOne(t, w)
			percent = 200
			for range 12 {
				if !away {
					_ = w.reconcile()
				}
				w.passes(period)
			}
			percent, refuse = 50, false
			if away {
				w.restart()
			}
			w.writes()
			w.mustReconcile(6)
			same(t, "written to members", nil, toMembers(w.writes()))
			want := map[string]string{"a": "web 1-20, runs 20", "b": "web 1-20, runs 20", "c": "web 1-20, runs 20"}
			same(t, "there is", want, w.has())
			for _, c := range w.object().Status.Clusters {
				same(t, c.Name+", of which "+ordered+" was told to run nothing", v1alpha1.ClusterActive, c.State)
			}
		})
	}
}

// A cluster that refuses to go to zero is not asked again for a while; another one goes in its place.
func TestAnotherGoesToZeroWhereOneRefuses(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero)
	w.uses = func(*member) int32 { return 20 }
	refused := map[string]int{}
	for name, m := range w.members {
		m.refuses = func(what string) error {
			if what == "scale" && len(refused) < 2 {
				refused[name]++
				return errRefused
			}
			return nil
		}
	}
	first := ordersOne(t, w)
	same(t, "asked", map[string]int{first: 1}, refused)
	_ = w.reconcileN(1)
	same(t, "why", "FailedWrite", clusterOf(w, first).Reason)
	same(t, "its state", v1alpha1.ClusterActive, clusterOf(w, first).State)
	_ = w.reconcileN(3)
	for name, times := range refused {
		if times != 1 {
			t.Errorf("%s was asked %d times", name, times)
		}
	}
	runs := 0
	for _, m := range w.members {
		runs += int(m.deployment().Replicas)
	}
	same(t, "that run", 2, runs)
}

func clusterOf(w *world, name string) v1alpha1.ClusterStatus {
	return sight.Before(w.object(), name)
}

// A maximum that was to be lowered while little ran, and could not be, is not lowered when much runs.
func TestStaleMaximum(t *testing.T) {
	for name, away := range map[string]bool{"the cluster refuses it": false, "the program ends before it": true} {
		t.Run(name, func(t *testing.T) {
			percent := map[string]int32{"a": 50, "b": 50}
			w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 20))
			w.uses = func(m *member) int32 { return percent[m.About.Name] }
			for _, m := range w.members {
				m.room = 40
			}
			w.mustReconcile(2)
			before := w.has()
			same(t, "there is at first", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, before)
			w.member("a").room = 3 // so a part of its maximum is to go to b
			refuse := func(string) error { return errRefused }
			w.member("a").refuses = refuse
			w.member("b").refuses = refuse
			for range 40 {
				if _ = w.reconcileN(1); ptr.Deref(clusterOf(w, "a").AssignedMax, 0) < 10 {
					break
				}
			}
			if ptr.Deref(clusterOf(w, "a").AssignedMax, 0) >= 10 {
				t.Fatalf("a keeps its maximum: %v", w.clusters())
			}
			w.member("a").room = 40
			percent["a"] = 400
			for range 6 {
				if !away {
					_ = w.reconcile()
				}
				w.passes(period)
			}
			percent["a"] = 50
			if away {
				w.restart()
			}
			w.member("a").refuses, w.member("b").refuses = nil, nil
			w.mustReconcile(6)
			same(t, "there is", map[string]string{"a": "web 1-10, runs 10", "b": "web 1-10, runs 2"}, w.has())
		})
	}
}

// A cluster that refuses bounds keeps what it has, and what the others need continues among them.
func TestRefusalDoesNotFreezeTheOthers(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3, "c": 3}, bounds(3, 12), stays,
		ranks(map[string]int32{"a": 3, "b": 2, "c": 1}))
	w.settle(3)
	w.member("c").refuses = func(string) error { return errRefused }
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.CPU(60)} })
	w.member("a").room = 2
	_ = w.reconcileN(8)
	same(t, "c", "FailedWrite", clusterOf(w, "c").Reason)
	same(t, "a", v1alpha1.ClusterSaturated, clusterOf(w, "a").State)
	if upper := ptr.Deref(clusterOf(w, "b").AssignedMax, 0); upper < 6 {
		t.Errorf("b has not got what a cannot host: %v", w.has())
	}
	same(t, "a has", "web 2-2 held, runs 4", w.has()["a"])
}

// A new, lower maximum does not cost a healthy cluster its autoscaler because another one is silent with more than that.
func TestLowerMaximumWhileAClusterIsSilent(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3}, bounds(1, 12))
	w.settle(3)
	w.member("b").Silent = federatedhpatest.Silence()
	w.edit(bounds(1, 6))
	w.writes()
	w.mustReconcile(2)
	same(t, "written", []string{"a web 1-3"}, toMembers(w.writes()))
	same(t, "there is", map[string]string{"a": "web 1-3, runs 3", "b": "web 1-6, runs 3"}, w.has())
	same(t, "beyond the maximum", int32(3), ptr.Deref(w.object().Status.Assignment.UnreachableMax, 0))
	w.mustReconcile(16)
	same(t, "written within the grace", nil, toMembers(w.writes()))
	w.member("b").Silent = nil
	w.mustReconcile(3)
	same(t, "there is when it is back", map[string]string{"a": "web 1-3, runs 3", "b": "web 1-3, runs 3"}, w.has())
	same(t, "beyond the maximum", nil, w.object().Status.Assignment.UnreachableMax)
}

// A full cluster of which nobody knows how much room it has is full no more once its Pods have found nodes for long.
func TestSaturationEndsWhereRoomIsNotKnown(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}), stays)
	for _, m := range w.members {
		m.scales, m.roomUnknown = false, true
	}
	w.mustReconcile(2)
	w.member("a").room = 2
	w.mustReconcile(6)
	same(t, "a", v1alpha1.ClusterSaturated, clusterOf(w, "a").State)
	w.member("a").room = 9
	w.mustReconcile(int(grace / period))
	same(t, "a, whose Pods run", v1alpha1.ClusterSaturated, clusterOf(w, "a").State)
	w.mustReconcile(3)
	same(t, "a, whose Pods have run for five minutes", v1alpha1.ClusterActive, clusterOf(w, "a").State)
}

// A new spec is told to a cluster, too, that refused the last one.
func TestNewSpecIsToldToOneThatRefused(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(3)
	w.member("b").refuses = func(string) error { return errRefused }
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.CPU(60)} })
	_ = w.reconcileN(2)
	w.edit(bounds(2, 20))
	_ = w.reconcileN(1)
	same(t, "intended", map[string]string{"a": "1-10", "b": "1-10"}, w.intends())
	w.member("b").refuses = nil
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
}

// Where maxima cannot grow because a cluster does not give up its own, others wake all the same.
func TestRefusalKeepsNobodyAtZero(t *testing.T) {
	percent := int32(20)
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, bounds(1, 12),
		weighs(map[string]int32{"a": 1, "b": 2, "c": 3}))
	w.uses = func(*member) int32 { return percent }
	for range 40 {
		w.mustReconcile(1)
		if w.members["a"].deployment().Replicas == 0 && w.members["b"].deployment().Replicas == 0 {
			break
		}
	}
	same(t, "there is at first", map[string]string{"a": "web 1-2, runs 0", "b": "web 1-4, runs 0", "c": "web 1-6, runs 1"}, w.has())
	w.member("c").refuses = func(string) error { return errRefused }
	w.edit(weighs(map[string]int32{"a": 1, "b": 4, "c": 1}))
	_ = w.reconcileN(2)
	same(t, "what waits for c", "web 1-4, runs 0", w.has()["b"])
	percent = 400
	_ = w.reconcileN(2)
	if w.members["a"].deployment().Replicas == 0 || w.members["b"].deployment().Replicas == 0 {
		t.Errorf("they sleep on: %v", w.has())
	}
}

// An autoscaler of somebody else is said, also where the cluster refuses ours.
func TestConflictWhereAClusterRefuses(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(3)
	w.member("b").refuses = func(string) error { return errRefused }
	w.edit(bounds(2, 20))
	_ = w.reconcileN(2)
	w.member("b").add("own", web.Name, nil)
	_ = w.reconcileN(1)
	same(t, "b", v1alpha1.ClusterConflict, clusterOf(w, "b").State)
}

func TestRefusalThen(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	now, before := at(1000), refusal{"no", at(100), at(800)}
	tests := map[string]struct {
		before              refusal
		failed, took, waits bool
		want                refusal
	}{
		"nothing":                    {refusal{}, false, false, false, refusal{}},
		"for the first time":         {refusal{}, true, false, false, refusal{"again", now, now}},
		"again":                      {before, true, false, false, refusal{"no", at(100), now}},
		"one of several was taken":   {before, true, true, false, refusal{"no", at(100), now}},
		"taken":                      {before, false, true, false, refusal{}},
		"it waits":                   {before, false, false, true, refusal{"no", at(100), now}},
		"nothing to write":           {before, false, false, false, before},
		"nothing to write for long":  {refusal{"no", at(-400), at(-200)}, false, false, false, refusal{}},
		"nothing to write, just not": {refusal{"no", at(-400), at(-199)}, false, false, false, refusal{"no", at(-400), at(-199)}},
		"after a long trouble":       {refusal{"no", at(-4000), at(-2000)}, false, false, false, refusal{"no", at(-4000), at(-2000)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.before.then("again", tc.failed, tc.took, tc.waits, now, grace); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRefusalHolds(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	tests := map[string]struct {
		f    refusal
		want bool
	}{
		"there is none":              {refusal{}, false},
		"just now":                   {refusal{"no", at(1000), at(1000)}, true},
		"within the grace":           {refusal{"no", at(701), at(701)}, true},
		"after the grace":            {refusal{"no", at(700), at(700)}, false},
		"within as long as it lasts": {refusal{"no", at(0), at(501)}, true},
		"after that":                 {refusal{"no", at(0), at(500)}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.f.holds(at(1000), grace); got != tc.want {
				t.Errorf("it holds: %t", got)
			}
		})
	}
}

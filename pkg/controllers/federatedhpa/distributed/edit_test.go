// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

func TestEdits(t *testing.T) {
	scaleDown := func(rules autoscalingv2.HPAScalingRules) func(*v1alpha1.FederatedHPA) {
		return func(f *v1alpha1.FederatedHPA) {
			f.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &rules}
		}
	}
	tests := map[string]struct {
		change func(*v1alpha1.FederatedHPA)
		writes []string
		heard  []string
	}{
		"the minimum": {bounds(6, 10), []string{"a web 3-5", "b web 3-5"}, []string{"BoundsSplit: a: 1-5 to 3-5, b: 1-5 to 3-5"}},
		"a metric": {func(f *v1alpha1.FederatedHPA) { f.Spec.Metrics[0] = federatedhpatest.CPU(70) },
			[]string{"a web 1-5", "b web 1-5"}, nil},
		"a window": {scaleDown(autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(60))}),
			[]string{"a web 1-5 waits 60", "b web 1-5 waits 60"}, nil},
		"what only we need":   {func(f *v1alpha1.FederatedHPA) { f.Spec.AutoscaleMultiClusterDelay = new(int32(5)) }, nil, nil},
		"more":                {bounds(2, 20), []string{"a web 1-10", "b web 1-10"}, []string{"BoundsSplit: a: 1-5 to 1-10, b: 1-5 to 1-10"}},
		"less than what runs": {bounds(2, 2), []string{"a web 1-1", "b web 1-1"}, []string{"BoundsSplit: a: 1-5 to 1-1, b: 1-5 to 1-1"}},
		"another policy": {func(f *v1alpha1.FederatedHPA) {
			f.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType = "Duplicated"
		},
			[]string{"a web 2-10", "b web 2-10"}, []string{"BoundsSplit: a: 1-5 to 2-10, b: 1-5 to 2-10"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
			w.settle(3)
			w.writes()
			w.Heard()
			w.edit(tc.change)
			w.mustReconcile(1)
			same(t, "written", append([]string{"hub status"}, tc.writes...), w.writes())
			same(t, "heard", tc.heard, w.Heard())
			same(t, "the generation seen", int64(2), *w.object().Status.ObservedGeneration)
			w.mustReconcile(3)
			same(t, "written later", nil, toMembers(w.writes()))
		})
	}
}

func TestHoldsComeAndGo(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 1, "b": 5}, ranks(map[string]int32{"a": 1, "b": 2}), stays, bounds(1, 20))
	for _, m := range w.members {
		m.scales = false
	}
	w.member("a").room = 3
	w.member("b").room = 10
	w.mustReconcile(3)
	w.writes()
	w.member("a").room = 30
	w.edit(bounds(1, 30))
	w.mustReconcile(2)
	has := w.has()
	w.writes()
	w.member("a").run(2)
	w.mustReconcile(1)
	same(t, "b, while a runs more than its minimum", has["b"][:len(has["b"])-len(", runs 5")]+" held, runs 5", w.has()["b"])
	w.member("a").run(1)
	w.mustReconcile(1)
	same(t, "b, when a is at its minimum", has["b"], w.has()["b"])
}

// The window and the tolerance of the spec count, and otherwise those of the program.
func TestWindowAndTolerance(t *testing.T) {
	tests := map[string]struct {
		rules      *autoscalingv2.HPAScalingRules
		use        int32
		reconciles int // until a cluster is emptied; 0: none is
	}{
		"those of the program":            {nil, 44, 21},
		"within the program's tolerance":  {nil, 46, 0},
		"a shorter window":                {&autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(60))}, 44, 5},
		"a greater tolerance, of a fifth": {&autoscalingv2.HPAScalingRules{Tolerance: new(resource.MustParse("0.2"))}, 44, 0},
		"a smaller tolerance":             {&autoscalingv2.HPAScalingRules{Tolerance: new(resource.MustParse("0.01"))}, 46, 21},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "Prioritized", map[string]int32{"a": 40, "b": 40}, ranks(map[string]int32{"a": 1, "b": 2}), stays, bounds(1, 200),
				func(f *v1alpha1.FederatedHPA) {
					if tc.rules != nil {
						f.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: tc.rules}
					}
				})
			for _, m := range w.members {
				m.room = 60
			}
			w.uses = func(*member) int32 { return 50 }
			w.mustReconcile(1)
			low := false
			w.uses = func(m *member) int32 {
				if low {
					return tc.use
				}
				return 50
			}
			for _, m := range w.members {
				hold := m
				m.steadyAt = func() int32 { return hold.deployment().Replicas }
			}
			w.mustReconcile(3)
			low = true
			w.passes(0)
			w.Heard()
			at := 0
			for i := 1; i <= 30 && at == 0; i++ {
				w.mustReconcile(1)
				for _, line := range w.Heard() {
					if len(line) > 18 && line[:18] == "LowPriorityDrained" {
						at = i
					}
				}
			}
			same(t, "drained at reconcile", tc.reconciles, at)
		})
	}
}

// A cluster is emptied only once its autoscaler has been content for a while.
func TestDrainWaitsUntilItIsSteady(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 40, "b": 40}, ranks(map[string]int32{"a": 1, "b": 2}), stays, bounds(1, 200))
	for _, m := range w.members {
		m.room, m.scales = 60, false
	}
	w.mustReconcile(2)
	desire := func(n int32) {
		for _, m := range w.members {
			hpa := m.hpas["web"].DeepCopy()
			hpa.Status.DesiredReplicas, hpa.Status.CurrentReplicas = n, 40
			hpa.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricStatus{
				Name: "cpu", Current: autoscalingv2.MetricValueStatus{AverageUtilization: new(int32(30))}}}}
			m.store(hpa, false)
		}
	}
	desire(39)
	w.Heard()
	w.mustReconcile(25)
	same(t, "heard while it desires something else", nil, w.Heard())
	desire(40)
	w.mustReconcile(2)
	same(t, "heard in two reconciles", nil, w.Heard())
	w.mustReconcile(1)
	same(t, "how much is heard in the third", 1, len(w.Heard()))
}

// How long the load has been low is counted while bounds wait to be written, too.
func TestLowLoadIsCountedWhileBoundsWait(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 40, "b": 40}, ranks(map[string]int32{"a": 1, "b": 2}), stays, bounds(1, 200))
	percent := int32(50)
	w.uses = func(*member) int32 { return percent }
	for _, m := range w.members {
		m.steadyAt = func() int32 { return 40 }
	}
	w.mustReconcile(3)
	same(t, "low since", nil, w.object().Status.Assignment.UnderloadedSince)
	percent = 30
	w.passes(period)
	hpa := w.member("b").hpas["web"].DeepCopy()
	hpa.Spec.MaxReplicas++
	w.member("b").store(hpa, false)
	w.mustReconcile(1)
	if since := w.object().Status.Assignment.UnderloadedSince; since == nil {
		t.Error("it is not counted")
	}
}

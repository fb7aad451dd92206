// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// atOnce scales in without a window.
func atOnce() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0))}}
}

// What is cordoned gets no more, and what is drained gives all that others can take, whatever divides.
func TestDivisionAmongCordonedAndDrained(t *testing.T) {
	even := map[string]int32{"a": 4, "b": 4, "c": 4}
	tolerant := func(f *v1alpha1.FederatedHPA) {
		f.Spec.ClusterTolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	all := func(annotation string) func(*world) {
		return func(w *world) {
			for _, m := range w.members {
				m.Annotate(annotation)
			}
		}
	}
	b := func(annotation string) func(*world) { return func(w *world) { w.members["b"].Annotate(annotation) } }
	tests := map[string]struct {
		by      []func(*v1alpha1.FederatedHPA)
		arrange func(*world)
		wants   int32
		want    map[string]int32
	}{
		"cordoned, up": {nil, b(taints.CordonAnnotation), 18, map[string]int32{"a": 7, "b": 4, "c": 7}},
		"cordoned, up, and tolerated": {[]func(*v1alpha1.FederatedHPA){tolerant}, b(taints.CordonAnnotation), 18,
			map[string]int32{"a": 6, "b": 6, "c": 6}},
		"cordoned, down":     {nil, b(taints.CordonAnnotation), 6, map[string]int32{"a": 2, "b": 2, "c": 2}},
		"all cordoned, up":   {nil, all(taints.CordonAnnotation), 18, even},
		"drained":            {nil, b(taints.DrainAnnotation), 12, map[string]int32{"a": 6, "b": 0, "c": 6}},
		"drained, up":        {nil, b(taints.DrainAnnotation), 18, map[string]int32{"a": 9, "b": 0, "c": 9}},
		"drained, tolerated": {[]func(*v1alpha1.FederatedHPA){tolerant}, b(taints.DrainAnnotation), 12, even},
		"all drained":        {nil, all(taints.DrainAnnotation), 12, even},
		"drained, and the others at their most": {
			[]func(*v1alpha1.FederatedHPA){by("StaticWeighted", atMost("a", 5), weight("b", 1), atMost("c", 4))},
			b(taints.DrainAnnotation), 12, map[string]int32{"a": 5, "b": 3, "c": 4}},
		"drained, by priority": {
			[]func(*v1alpha1.FederatedHPA){by("Prioritized", priority("a", 1), priority("b", 3), priority("c", 2))},
			b(taints.DrainAnnotation), 12, map[string]int32{"a": 4, "b": 0, "c": 8}},
		"drained, silent": {nil, func(w *world) {
			b(taints.DrainAnnotation)(w)
			w.members["b"].Silent = federatedhpatest.Silence()
		}, 12, map[string]int32{"a": 6, "b": 4, "c": 6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := inMembers(t, even, append([]func(*v1alpha1.FederatedHPA){by("StaticWeighted")}, tc.by...)...)
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Behavior = atOnce() })
			w.wants(12)
			_ = w.reconcileN(1)
			tc.arrange(w)
			w.wants(tc.wants)
			_ = w.reconcileN(4)
			same(t, "replicas", tc.want, w.runs())
			wrote := len(w.wrote)
			_ = w.reconcileN(3)
			if more := w.wrote[wrote:]; len(more) > 0 {
				t.Errorf("nothing changes, and written is %v", more)
			}
		})
	}
}

// A silent cluster that is drained holds no scale-in, and when it is back it is told to run nothing, and counts for nothing.
func TestSilentClusterThatIsDrained(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		w := inMembers(t, map[string]int32{"a": 4, "b": 4, "c": 4}, by("StaticWeighted"))
		w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Behavior = atOnce() })
		w.usesPercent(50)
		_ = w.reconcileN(1)
		b := w.members["b"]
		b.Silent = federatedhpatest.Silence()
		w.usesPercent(20)
		_ = w.reconcileN(2)
		same(t, "while it is silent", map[string]int32{"a": 4, "b": 4, "c": 4}, w.runs())
		same(t, "FleetVisible", "False ClusterUnreachable", w.says(v1alpha1.FleetVisible))
		b.Annotate(taints.DrainAnnotation)
		if restarts {
			w.restart()
		}
		_ = w.reconcileN(10)
		runs := w.runs()
		if runs["a"]+runs["c"] > 5 {
			t.Errorf("scaling in is held: %v", runs)
		}
		same(t, "reason", "Drained", w.object().Status.Clusters[1].Reason)
		same(t, "FleetVisible", "True AllClustersVisible", w.says(v1alpha1.FleetVisible))
		b.Silent = nil
		w.usesPercent(50)
		_ = w.reconcileN(1)
		same(t, "back", map[string]int32{"a": runs["a"], "b": 0, "c": runs["c"]}, w.runs())
	}
}

// Where others divide, a drained cluster that is silent holds nothing either, and its replicas are not taken from the others.
func TestSilentClusterThatIsDrainedWhereOthersDivide(t *testing.T) {
	w := onHub(t)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Behavior = atOnce() })
	_ = w.reconcileN(1)
	w.members["west"].Silent = federatedhpatest.Silence()
	w.members["west"].Annotate(taints.DrainAnnotation)
	_ = w.reconcileN(1)
	same(t, "at its target", int32(10), w.hub.workloads[web].Replicas)
	w.usesPercent(10)
	_ = w.reconcileN(1)
	if n := w.hub.workloads[web].Replicas; n >= 10 || n < 5 {
		t.Errorf("%d replicas, want fewer than 10, and no fewer than the 5 that are not seen", n)
	}
}

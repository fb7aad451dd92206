// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"errors"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func TestOrderIsDoneOnceTheClusterRuns(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 0, "b": 1})
	w.uses = func(*member) int32 { return 150 } // so its autoscaler scales up at once
	w.mustReconcile(1)
	same(t, "intended", map[string]string{"a": "1-5 to 1", "b": "1-5"}, w.intends())
	w.mustReconcile(1)
	same(t, "intended", map[string]string{"a": "1-5", "b": "1-5"}, w.intends())
	w.edit(bounds(2, 20))
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 1-10, runs 10", "b": "web 1-10, runs 10"}, w.has())
}

// One cluster after another goes to zero when there is little to do, and comes back when there is much.
func TestToZeroAndBack(t *testing.T) {
	percent := int32(50)
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, weighs(map[string]int32{"a": 1, "b": 2, "c": 3}))
	w.uses = func(*member) int32 { return percent }
	w.mustReconcile(2)
	w.writes()
	w.Heard()
	percent = 20
	w.mustReconcile(25)
	same(t, "written", []string{"a to 0"}, toMembers(w.writes()))
	same(t, "heard", []string{"ScaledToZero: a: 1 to 0 replicas", "ClusterStateChanged: cluster a is ScaledToZero"}, w.Heard())
	same(t, "clusters", []string{"a ScaledToZero 1-1 current 0 ready 0", "b Active 1-4 current 1 ready 1", "c Active 1-5 current 1 ready 1"},
		w.clusters())
	w.mustReconcile(40)
	same(t, "written", nil, toMembers(w.writes()))
	percent = 200
	w.mustReconcile(2)
	same(t, "written", []string{"a to 1"}, toMembers(w.writes()))
	same(t, "heard", []string{"ScaledFromZero: a: 0 to 1 replicas", "ClusterStateChanged: cluster a is Active"}, w.Heard())
}

// What the hub took to zero begins again when it may no longer be there, also if the cluster was out of sight when that was
// decided.
func TestFromZeroAfterAnAbsence(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, bounds(2, 15))
	w.uses = func(*member) int32 { return 20 }
	w.mustReconcile(30)
	same(t, "at zero", "a ScaledToZero 1-5 current 0 ready 0", w.clusters()[0])
	w.member("a").Silent = federatedhpatest.Silence()
	w.mustReconcile(30) // longer than the grace
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.ScalingToZero = new(false) })
	w.mustReconcile(3)
	w.member("a").Silent = nil
	w.mustReconcile(4)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 1", "b": "web 1-5, runs 1", "c": "web 1-5, runs 1"}, w.has())
	same(t, "intended", map[string]string{"a": "1-5", "b": "1-5", "c": "1-5"}, w.intends())
}

// A cluster that was told to run nothing, by us or by somebody else meanwhile, is told once.
func TestToZeroIsWrittenOnce(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero)
	w.uses = func(*member) int32 { return 20 }
	w.mustReconcile(19)
	refused := 0
	for _, m := range w.members {
		m.refuses = func(what string) error {
			if what == "scale" {
				refused++
				m.deployment().Version++ // somebody else writes it meanwhile
				m.run(0)
				m.refuses = nil
			}
			return nil
		}
	}
	w.writes()
	w.mustReconcile(20)
	if refused != 1 {
		t.Errorf("%d clusters were told", refused)
	}
	same(t, "written", nil, toMembers(w.writes()))
}

func TestWants(t *testing.T) {
	tests := map[string]struct {
		change   func(*v1alpha1.FederatedHPA)
		answer   replicas.Metric
		runs     map[string]int32
		asked    int
		clusters []string
		writes   []string
	}{
		"there is something in the queue": {nil, replicas.Metric{Values: []int64{0, 1}}, nil, 1, []string{"a", "b"},
			[]string{"a to 1", "b to 1"}},
		"the queue is empty": {nil, replicas.Metric{Values: []int64{0}}, nil, 1, []string{"a", "b"}, nil},
		"it is not known": {nil, replicas.Metric{Values: []int64{5}, Err: errors.New("no")}, nil, 1, []string{"a", "b"},
			nil},
		"something runs": {nil, replicas.Metric{Values: []int64{5}}, map[string]int32{"a": 0, "b": 1}, 0, nil, nil},
		"clusters themselves come from zero": {func(f *v1alpha1.FederatedHPA) { f.Spec.ScalingToZeroMode = "Native" },
			replicas.Metric{Values: []int64{5}}, nil, 0, nil, nil},
		"metrics of Pods say nothing without": {
			func(f *v1alpha1.FederatedHPA) { f.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.CPU(50)} },
			replicas.Metric{Values: []int64{5}}, nil, 0, nil, nil},
		"the minimum calls for replicas anyway": {bounds(1, 10), replicas.Metric{Values: []int64{5}}, nil, 0, nil, nil},
		"a cluster that has left is not asked":  {only("a"), replicas.Metric{Values: []int64{5}}, nil, 1, []string{"a"}, []string{"a to 1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			runs := tc.runs
			if runs == nil {
				runs = map[string]int32{"a": 0, "b": 0}
			}
			w := fleetOf(t, "StaticWeighted", runs, toZero, bounds(0, 10), func(f *v1alpha1.FederatedHPA) {
				f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("10"))
			})
			w.settle(2)
			w.asked = nil
			w.answer = tc.answer
			if tc.change != nil {
				w.edit(tc.change)
				w.mustReconcile(1) // takes the edit
				w.asked = nil
			}
			w.writes()
			w.mustReconcile(1)
			same(t, "how often it was asked", tc.asked, len(w.asked))
			if len(w.asked) > 0 {
				same(t, "asked", hubmetrics.Question{Namespace: "shop", Metric: federatedhpatest.Queue("10"), Clusters: tc.clusters}, w.asked[0])
			}
			same(t, "written", tc.writes, toMembers(w.writes()))
		})
	}
}

// In Native mode the members' autoscalers may run nothing, and the hub never writes replicas.
func TestNative(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 0, "b": 1, "c": 1}, toZero, func(f *v1alpha1.FederatedHPA) {
		f.Spec.ScalingToZeroMode = v1alpha1.ScalingToZeroNative
		f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("10"))
	})
	w.settle(2)
	has := w.has()
	zeros := 0
	for _, one := range has {
		if one[:7] == "web 0-3" || one[:7] == "web 0-4" {
			zeros++
		}
	}
	same(t, "clusters that may run nothing, of a minimum of 2", 1, zeros)
	w.writes()
	w.mustReconcile(20)
	same(t, "written later", nil, w.writes())
}

func TestNativeClusterThatIsSilentForItsPodsKeepsItsZero(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, func(f *v1alpha1.FederatedHPA) {
		f.Spec.ScalingToZeroMode = v1alpha1.ScalingToZeroNative
		f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("10"))
	})
	w.settle(2)
	w.writes()
	for _, m := range w.members {
		m.hidden = federatedhpatest.Silence()
		w.mustReconcile(2)
		m.hidden = nil
		w.mustReconcile(2)
	}
	same(t, "written to members", nil, toMembers(w.writes()))
}

// Somebody else began to run some in between: then the cluster runs as many.
func TestFromZeroIsNotWrittenOverWhatRuns(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 0, "b": 1})
	a := w.member("a")
	a.scales = false
	a.refuses = func(what string) error {
		if what == "scale" && a.deployment().Replicas == 0 {
			a.run(3)
		}
		return nil
	}
	w.mustReconcile(3)
	same(t, "a has", "web 1-5, runs 3", w.has()["a"])
}

// Who may be empty is left to the members; who may not begins to run.
func TestNativeClustersComeToZeroByThemselves(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 0, "b": 0, "c": 0}, toZero, func(f *v1alpha1.FederatedHPA) {
		f.Spec.ScalingToZeroMode = v1alpha1.ScalingToZeroNative
		f.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.Queue("10")}
	})
	w.mustReconcile(1)
	same(t, "written", []string{"a web 0-3", "b web 1-3", "b to 1", "c web 1-4", "c to 1"}, toMembers(w.writes()))
	w.uses = func(*member) int32 { return 10 }
	w.mustReconcile(30)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "a", v1alpha1.ClusterActive, w.object().Status.Clusters[0].State)
	delete(w.members, "c")
	w.mustReconcile(2)
	same(t, "written when c is gone, and a may no longer be empty", []string{"a web 1-5", "a to 1", "b web 1-5"}, toMembers(w.writes()))
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

func TestNothingIsWrittenWhenNothingChanges(t *testing.T) {
	for _, policy := range policies {
		t.Run(string(policy), func(t *testing.T) {
			w := fleetOf(t, policy, map[string]int32{"a": 3, "b": 3, "c": 3}, bounds(3, 30))
			w.member("b").room = 20
			w.member("c").add("theirs", "web", nil)
			w.edit(only("a", "b", "c"))
			w.mustReconcile(6)
			w.writes()
			w.Heard()
			w.mustReconcile(100)
			same(t, "written", nil, w.writes())
			same(t, "heard", nil, w.Heard())
			w.restart()
			w.mustReconcile(5)
			same(t, "written by another leader", nil, w.writes())
			same(t, "heard of another leader", nil, w.Heard())
		})
	}
}

func TestStatus(t *testing.T) {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 3, "b": 4, "c": 2}, bounds(3, 30), ranks(map[string]int32{"a": 2, "b": 1}))
	w.member("a").room, w.member("a").unready = 10, 1
	w.member("b").roomUnknown = true
	w.member("b").version = "autoscaling/v2beta2"
	w.member("b").scales = false
	w.mustReconcile(3)
	got := w.object().Status
	began := metav1.Time{Time: start.Truncate(time.Second)}
	hpa := w.member("a").hpas["web"].Status
	want := []v1alpha1.ClusterStatus{
		{Name: "a", State: "Active", Since: &began, AssignedMin: new(int32(3)), AssignedMax: new(int32(26)), CurrentReplicas: new(int32(3)),
			ReadyReplicas: new(int32(2)), UnschedulableReplicas: new(int32(0)), AvailableReplicas: new(int32(10)), Priority: new(int32(2)),
			HPAVersion: "autoscaling/v2", HPA: &hpa},
		{Name: "b", State: "Active", Since: &began, AssignedMin: new(int32(1)), AssignedMax: new(int32(4)), CurrentReplicas: new(int32(4)),
			ReadyReplicas: new(int32(4)), UnschedulableReplicas: new(int32(0)), Priority: new(int32(1)),
			HPAVersion: "autoscaling/v2beta2", HPA: &autoscalingv2.HorizontalPodAutoscalerStatus{}},
		{Name: "c", State: "Excluded", Since: &began, Reason: "NotPreferred",
			Message:     "no entry of clusterAutoscalingPreference selects the cluster",
			AssignedMin: new(int32(0)), AssignedMax: new(int32(0)), CurrentReplicas: new(int32(2)), Priority: new(int32(0)),
			HPAVersion: "autoscaling/v2"},
	}
	same(t, "clusters", want, local(got.Clusters))
	got.Clusters, got.Conditions, got.Explanation = nil, nil, nil
	same(t, "the rest", v1alpha1.FederatedHPAStatus{
		ObservedGeneration: new(int64(1)), CurrentReplicas: 7, DesiredReplicas: 3, ReadyReplicas: new(int32(6)),
		CurrentMetrics: []autoscalingv2.MetricStatus{{}},
		Summary:        &v1alpha1.FederatedHPASummary{Targets: "cpu: <unknown>/50%", Clusters: "2/2", State: "Active"},
		Assignment:     &v1alpha1.AssignmentStatus{},
	}, got)
}

// local has all times in UTC.
func local(clusters []v1alpha1.ClusterStatus) []v1alpha1.ClusterStatus {
	for i := range clusters {
		clusters[i].Since = &metav1.Time{Time: clusters[i].Since.UTC()}
	}
	return clusters
}

func TestConditionsAndState(t *testing.T) {
	type kind = autoscalingv2.HorizontalPodAutoscalerConditionType
	none := func(*world) {}
	tests := map[string]struct {
		policy v1alpha1.FederatedHPAAssignmentType
		change []func(*v1alpha1.FederatedHPA)
		world  func(*world)
		state  v1alpha1.FederatedHPAState
		want   map[kind]string
	}{
		"all is well": {"StaticWeighted", nil, func(w *world) { w.mustReconcile(1) }, "Active", map[kind]string{
			"AbleToScale":    "True ReadyForNewScale: the bounds are split among 2 clusters",
			"ScalingActive":  "True ValidMetricFound: the autoscalers of 2 clusters compute their replicas",
			"ScalingLimited": "False DesiredWithinRange: the desired replicas of every cluster are within its bounds",
			"FleetVisible":   "True AllClustersVisible: all clusters are visible",
			// What is rare is absent.
			"MetricNotSupported": "", "MaxNotAssignable": "", "AllClustersSaturated": "", "CapacityUnknown": "", "PreferenceUnmatched": ""}},
		"a preference selects no cluster": {"StaticWeighted", []func(*v1alpha1.FederatedHPA){weighs(map[string]int32{"a": 1, "gone": 1})}, none,
			"Active", map[kind]string{
				"PreferenceUnmatched": `True SelectsNoCluster: of the 2 clusters that the FederatedHPA selects, none is selected by clusterAutoscalingPreference[1] {"clusterNames":["gone"]}: compare`}},
		"a preference selects a cluster that is silent": {"StaticWeighted",
			[]func(*v1alpha1.FederatedHPA){weighs(map[string]int32{"a": 1, "b": 1})}, func(w *world) {
				w.member("b").Silent = federatedhpatest.Silence()
			}, "Held", map[kind]string{"PreferenceUnmatched": ""}},
		"a preference selects a cluster that lacks the workload": {"StaticWeighted",
			[]func(*v1alpha1.FederatedHPA){weighs(map[string]int32{"a": 1, "b": 1})}, func(w *world) {
				w.member("b").undeploy()
			}, "Active", map[kind]string{"PreferenceUnmatched": ""}},
		"a preference selects a cluster that the object does not": {"StaticWeighted",
			[]func(*v1alpha1.FederatedHPA){weighs(map[string]int32{"a": 1, "b": 1}), func(f *v1alpha1.FederatedHPA) {
				f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ExcludeClusters: []string{"b"}}
			}}, none, "Active", map[kind]string{
				"PreferenceUnmatched": `True SelectsNoCluster: of the 1 clusters that the FederatedHPA selects, none is selected by clusterAutoscalingPreference[1] {"clusterNames":["b"]}: compare`}},
		"no cluster is registered": {"StaticWeighted", nil, func(w *world) { clear(w.members) }, "Failing", map[kind]string{
			"AbleToScale": "False NoClusters: no registered cluster is selected: compare spec.clusterAffinity with the registrations"}},
		"no cluster takes part": {"StaticWeighted", nil, func(w *world) {
			w.member("a").undeploy()
			w.member("b").add("theirs", "web", nil)
		}, "Failing", map[kind]string{
			"AbleToScale":   "False NoClusters: no cluster takes part: a: TargetNotFound; b: ScaledByOthers",
			"ScalingActive": "False ScalingDisabled: no cluster runs a replica under its autoscaler yet"}},
		"nothing runs": {"StaticWeighted", nil, func(w *world) {
			w.mustReconcile(2)
			for _, m := range w.members {
				m.run(0)
			}
		}, "Paused", map[kind]string{"ScalingActive": "False ScalingDisabled: no cluster runs a replica under its autoscaler yet"}},
		"an autoscaler has no metrics": {"StaticWeighted", nil, func(w *world) {
			w.mustReconcile(1)
			w.says("b", autoscalingv2.ScalingActive, "False", "FailedGetResourceMetric", "no metrics")
		}, "Failing", map[kind]string{"ScalingActive": "False FailedGetResourceMetric: b: no metrics"}},
		"a cluster is limited": {"StaticWeighted", nil, func(w *world) {
			w.mustReconcile(1)
			w.says("b", autoscalingv2.ScalingLimited, "True", "TooManyReplicas", "more")
		}, "Limited", map[kind]string{"ScalingLimited": "True TooManyReplicas: the bounds or policies of these clusters limit their desired " +
			"replicas: b"}},
		"a cluster is silent": {"StaticWeighted", nil, func(w *world) {
			w.mustReconcile(1)
			w.member("b").Silent = federatedhpatest.Silence()
		}, "Held",
			map[kind]string{
				"FleetVisible": "False ClusterUnreachable: these clusters cannot be seen, keep their bounds and continue to scale within them: b " +
					"(Timeout)"}},
		"a cluster is too old for a metric": {"StaticWeighted", []func(*v1alpha1.FederatedHPA){byContainer}, func(w *world) {
			w.member("b").version = "autoscaling/v2beta2"
		}, "Active", map[kind]string{
			"MetricNotSupported": `True MetricNotSupported: b: writing a HorizontalPodAutoscaler: autoscaling/v2beta2 has no spec.metrics[0].containerResource; use a Resource metric`}},
		"the thresholds are too low": {"StaticWeighted", []func(*v1alpha1.FederatedHPA){caps(map[string]int32{"a": 3, "b": 4})}, none, "Active",
			map[kind]string{
				"MaxNotAssignable": "True Thresholds: 3 of maxReplicas cannot be assigned: the thresholds of the clusters add up to less"}},
		"all clusters are full": {"Prioritized", []func(*v1alpha1.FederatedHPA){stays}, func(w *world) {
			w.mustReconcile(1)
			w.member("a").room, w.member("b").room = 1, 1
			w.mustReconcile(7)
		}, "Active", map[kind]string{
			"AllClustersSaturated": "True NoRoom: Pods of a cluster are unschedulable, and no other cluster can take over " +
				"their part of maxReplicas"}},
		"no capacity is known": {"DynamicWeighted", nil, func(w *world) {
			for _, m := range w.members {
				m.roomUnknown = true
				m.deploy(0)
				m.scales = false
			}
		}, "Paused", map[kind]string{
			"CapacityUnknown": "True CapacityUnknown: the capacity of no cluster is known, so all have the same weight"}},
		"a workload has no selector": {"StaticWeighted", nil, func(w *world) { w.member("b").deployment().Selector = "" }, "Active",
			map[kind]string{
				"AbleToScale": "True ReadyForNewScale: the bounds are split among 1 clusters"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, tc.policy, map[string]int32{"a": 2, "b": 2}, tc.change...)
			for _, m := range w.members {
				m.scales = false
			}
			tc.world(w)
			w.mustReconcile(1)
			for kind, want := range tc.want {
				if got := w.condition(kind); got != want && (want == "" || !strings.HasPrefix(got, want)) {
					t.Errorf("%s is %q, want %q", kind, got, want)
				}
			}
			same(t, "state", tc.state, w.object().Status.Summary.State)
		})
	}
}

// A preference is reported once it was wrong.
func TestPreferenceThatIsMended(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, weighs(map[string]int32{"a": 1, "c": 1}))
	w.mustReconcile(2)
	same(t, "clusters", []string{"a Active 2-10 current 2 ready 2", "b Excluded 0-0 current 2 ready ? NotPreferred"}, w.clusters())
	w.member("c").deploy(2)
	w.mustReconcile(2)
	same(t, "PreferenceUnmatched", "False AllMatched: every entry of clusterAutoscalingPreference selects a cluster",
		w.condition(v1alpha1.PreferenceUnmatched))
}

// says has the autoscaler of a member say something.
func (w *world) says(name string, kind autoscalingv2.HorizontalPodAutoscalerConditionType, is corev1.ConditionStatus, reason,
	message string) {
	hpa := w.member(name).hpas["web"].DeepCopy()
	hpa.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: kind, Status: is, Reason: reason, Message: message}}
	w.member(name).store(hpa, false)
}

func byContainer(f *v1alpha1.FederatedHPA) {
	f.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
			Name: "cpu", Container: "app", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(50))}}}}
}

func TestMetricThatAClusterDoesNotKnow(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.member("b").version = "autoscaling/v2beta2"
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
	w.edit(byContainer)
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 2-10, runs 2", "b": "runs 2"}, w.has())
	same(t, "b", "b Excluded 0-0 current 2 ready 2 MetricNotSupported", w.clusters()[1])
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.CPU(50)} })
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 2", "b": "web 1-5, runs 2"}, w.has())
	same(t, "MetricNotSupported", "False MetricsSupported: every cluster supports the metrics", w.condition(v1alpha1.MetricNotSupported))
}

// A condition keeps the time at which it became what it is.
func TestConditionKeepsItsTime(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.mustReconcile(3)
	w.member("b").Silent = federatedhpatest.Silence()
	w.mustReconcile(1)
	at := map[autoscalingv2.HorizontalPodAutoscalerConditionType]time.Duration{}
	for _, c := range w.object().Status.Conditions {
		at[c.Type] = c.LastTransitionTime.Sub(start.Truncate(time.Second))
	}
	same(t, "since", map[autoscalingv2.HorizontalPodAutoscalerConditionType]time.Duration{
		"AbleToScale": 0, "ScalingActive": period, "ScalingLimited": 0, "FleetVisible": 3 * period}, at)
}

func TestMetricsOfTheFleet(t *testing.T) {
	type statuses = []autoscalingv2.MetricStatus
	percent := func(n int32, average string) autoscalingv2.MetricStatus {
		return autoscalingv2.MetricStatus{Type: "Resource", Resource: &autoscalingv2.ResourceMetricStatus{Name: "cpu",
			Current: autoscalingv2.MetricValueStatus{AverageUtilization: &n, AverageValue: new(resource.MustParse(average))}}}
	}
	external := func(total, average string) autoscalingv2.MetricStatus {
		s := autoscalingv2.MetricStatus{Type: "External",
			External: &autoscalingv2.ExternalMetricStatus{Metric: autoscalingv2.MetricIdentifier{Name: "queue"}}}
		if total != "" {
			s.External.Current.Value = new(resource.MustParse(total))
		}
		if average != "" {
			s.External.Current.AverageValue = new(resource.MustParse(average))
		}
		return s
	}
	tests := map[string]struct{ a, b, want statuses }{ // a runs 1, b runs 3
		"averages are weighed by replicas": {statuses{percent(20, "200m"), external("", "4")}, statuses{percent(60, "600m"), external("", "8")},
			statuses{percent(50, "500m"), external("", "7")}},
		"of values the highest stands": {statuses{percent(20, "200m"), external("9", "")}, statuses{percent(60, "600m"), external("7", "")},
			statuses{percent(50, "500m"), external("9", "")}},
		"the highest may be the last": {statuses{percent(20, "200m"), external("7", "")}, statuses{percent(60, "600m"), external("9", "")},
			statuses{percent(50, "500m"), external("9", "")}},
		"one that a cluster does not know": {statuses{percent(20, "200m"), {}}, statuses{percent(60, "600m"), external("7", "")},
			statuses{percent(50, "500m"), {}}},
		"one that a cluster does not report": {statuses{percent(20, "200m")}, statuses{percent(60, "600m"), external("7", "")},
			statuses{percent(50, "500m"), {}}},
		"none": {nil, nil, statuses{{}, {}}},
		"of a type that nobody knows": {statuses{{Type: "New"}, external("7", "")}, statuses{{Type: "New"}, external("7", "")},
			statuses{{}, external("7", "")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 3}, func(f *v1alpha1.FederatedHPA) {
				f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("10"))
			})
			w.settle(1)
			for name, said := range map[string]statuses{"a": tc.a, "b": tc.b} {
				hpa := w.member(name).hpas["web"].DeepCopy()
				hpa.Status.CurrentMetrics = said
				w.member(name).store(hpa, false)
			}
			w.mustReconcile(1)
			same(t, "metrics", federatedhpatest.ThroughJSON(t, tc.want), w.object().Status.CurrentMetrics)
		})
	}
}

func TestLastScaleTime(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.member("a").Offset = time.Hour // its clock is ahead
	w.settle(1)
	last := func() time.Duration {
		w.mustReconcile(1)
		if at := w.object().Status.LastScaleTime; at != nil {
			return at.Sub(start.Truncate(time.Second))
		}
		return -1
	}
	same(t, "never", -1, last())
	scaled := func(name string, at time.Duration) {
		hpa := w.member(name).hpas["web"].DeepCopy()
		hpa.Status.LastScaleTime = &metav1.Time{Time: start.Add(at)}
		w.member(name).store(hpa, false)
	}
	scaled("a", time.Hour+time.Minute)
	same(t, "by our clock", time.Minute, last())
	scaled("b", 2*time.Minute)
	same(t, "the last of all", 2*time.Minute, last())
	delete(w.members, "b")
	same(t, "it is not forgotten", 2*time.Minute, last())
}

func TestMetrics(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 0})
	w.settle(3)
	w.member("b").refuses = func(string) error { return errRefused }
	w.edit(only("a"))
	_ = w.reconcileN(1)
	const rest = `
# HELP fleetscale_distributed_federatedhpas FederatedHPAs in distributed mode.
# TYPE fleetscale_distributed_federatedhpas gauge
`
	compare := func(want string, names ...string) {
		t.Helper()
		if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
	}
	compare(rest+`fleetscale_distributed_federatedhpas 1
`, "fleetscale_distributed_federatedhpas")
	compare(`
# HELP fleetscale_distributed_member_writes_total Writes to members, by what was written (apply or delete of a HorizontalPodAutoscaler, scale, create_workload) and result: ok or error.
# TYPE fleetscale_distributed_member_writes_total counter
fleetscale_distributed_member_writes_total{cluster="a",result="ok",what="apply"} 1
fleetscale_distributed_member_writes_total{cluster="b",result="error",what="delete"} 1
fleetscale_distributed_member_writes_total{cluster="b",result="ok",what="apply"} 1
fleetscale_distributed_member_writes_total{cluster="b",result="ok",what="scale"} 1
`, "fleetscale_distributed_member_writes_total")
	compare(`
# HELP fleetscale_distributed_steps_total Steps by which bounds moved between clusters, by their action, which is also the reason of their Events.
# TYPE fleetscale_distributed_steps_total counter
fleetscale_distributed_steps_total{action="BoundsSplit"} 2
`, "fleetscale_distributed_steps_total")
	w.edit(func(f *v1alpha1.FederatedHPA) { // it stays counted while the spec cannot be read
		f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Like"}}}}
	})
	_ = w.reconcileN(1)
	compare(rest+`fleetscale_distributed_federatedhpas 1
`, "fleetscale_distributed_federatedhpas")
	w.program.Forget(web, w.memories.Of(w.object()))
	compare(rest+`fleetscale_distributed_federatedhpas 0
`, "fleetscale_distributed_federatedhpas")
	if faults, err := testutil.GatherAndLint(w.registry); err != nil || len(faults) > 0 {
		t.Errorf("%v, %v", faults, err)
	}
}

// A step that moves nothing is none, however often it is tried.
func TestStepsAreCountedThatMove(t *testing.T) {
	w := newWorld(t, "StaticWeighted")
	w.mustReconcile(5)
	if n, err := testutil.GatherAndCount(w.registry, "fleetscale_distributed_steps_total"); err != nil || n != 0 {
		t.Errorf("%d kinds of steps were counted, %v", n, err)
	}
}

func TestForgottenObjectIsLookedAtAnew(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2})
	w.mustReconcile(2)
	memory := w.memories.Of(w.object())
	w.program.Forget(web, memory)
	if memory.refreshed || memory.clusters != nil {
		t.Error("it is still known")
	}
}

// A threshold applies to each cluster that an entry selects: what that leaves to the last ones is said.
func TestThresholdsThatCannotBeMet(t *testing.T) {
	floors := func(floor int32) func(f *v1alpha1.FederatedHPA) {
		return func(f *v1alpha1.FederatedHPA) {
			f.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{
				{TargetCluster: &v1alpha1.ClusterAffinity{}, StaticWeight: new(int32(1)), AutoscalingMinThreshold: &floor}}
		}
	}
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2}, bounds(2, 10), floors(2))
	w.settle(2)
	same(t, "said while all have it", "", w.message(v1alpha1.MinThresholdNotMet))
	w.edit(floors(3))
	w.settle(2)
	same(t, "said", "autoscalingMinThreshold applies to each cluster that an entry selects, and adds up to 15, while maxReplicas is 10:"+
		" a gets 0 of 3, b gets 1 of 3", w.message(v1alpha1.MinThresholdNotMet))
	w.edit(floors(2))
	w.settle(2)
	same(t, "said in the end", "every cluster gets its autoscalingMinThreshold",
		w.message(v1alpha1.MinThresholdNotMet))
}

func TestClocksThatAreNotBelieved(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(2)
	same(t, "said", "", w.condition(v1alpha1.ClockSkewed))
	w.member("b").Offset = -time.Minute
	w.mustReconcile(1)
	same(t, "said", "True ClockSkewed: clocks are off by 1m0s or more, of which 1m0s is taken into account; synchronize them with the"+
		" hub's: b (behind)", w.condition(v1alpha1.ClockSkewed))
}

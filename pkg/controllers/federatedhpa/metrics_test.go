// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

func drawn(name string) *v1alpha1.FederatedHPA {
	queue := autoscalingv2.MetricSpec{External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue_depth"}, Target: autoscalingv2.MetricTarget{Value: new(resource.MustParse("10"))},
	}}
	f := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	f.Spec.MaxReplicas = 20
	f.Spec.Metrics = []autoscalingv2.MetricSpec{queue, queue} // of different selectors, for all that is known here
	f.Status = v1alpha1.FederatedHPAStatus{
		ObservedGeneration: new(int64(0)), CurrentReplicas: 9, DesiredReplicas: 12, ReadyReplicas: new(int32(8)),
		CurrentMetrics: []autoscalingv2.MetricStatus{{}, {External: &autoscalingv2.ExternalMetricStatus{
			Current: autoscalingv2.MetricValueStatus{Value: new(resource.MustParse("1500m"))}}}},
		Summary: &v1alpha1.FederatedHPASummary{State: v1alpha1.StateHeld},
		Clusters: []v1alpha1.ClusterStatus{
			{Name: "east", AssignedMax: new(int32(15)), CurrentReplicas: new(int32(9)), ReadyReplicas: new(int32(8))},
			{Name: "west", AssignedReplicas: new(int32(0)), UnschedulableReplicas: new(int32(2))},
		},
	}
	return f
}

// What is desired is not known while the first metrics fail: that is not told as none.
func TestUndecidedIsNotShownAsZero(t *testing.T) {
	f := drawn("web")
	f.Status.DesiredReplicas = 0
	if s := shownOf(f); s.desired != unknown || s.current != 9 {
		t.Errorf("%d are desired, of %d", s.desired, s.current)
	}
	f.Status.LastScaleTime = &metav1.Time{}
	if s := shownOf(f); s.desired != 0 {
		t.Errorf("%d are desired", s.desired)
	}
}

func TestOneAutoscalerCanBeDrawn(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	m.show(drawn("web"), 10)
	const want = `
# HELP fleetscale_federatedhpa_cluster_replicas Replicas of a cluster, by kind: assigned, assigned_max (maxReplicas of its HorizontalPodAutoscaler, in distributed mode), current, ready, unschedulable.
# TYPE fleetscale_federatedhpa_cluster_replicas gauge
fleetscale_federatedhpa_cluster_replicas{cluster="east",kind="assigned_max",name="web",namespace="shop"} 15
fleetscale_federatedhpa_cluster_replicas{cluster="east",kind="current",name="web",namespace="shop"} 9
fleetscale_federatedhpa_cluster_replicas{cluster="east",kind="ready",name="web",namespace="shop"} 8
fleetscale_federatedhpa_cluster_replicas{cluster="west",kind="assigned",name="web",namespace="shop"} 0
fleetscale_federatedhpa_cluster_replicas{cluster="west",kind="unschedulable",name="web",namespace="shop"} 2
# HELP fleetscale_federatedhpa_current_replicas Replicas that the fleet was set to run at the last reconcile.
# TYPE fleetscale_federatedhpa_current_replicas gauge
fleetscale_federatedhpa_current_replicas{name="web",namespace="shop"} 9
# HELP fleetscale_federatedhpa_desired_replicas Replicas that were last decided on for the fleet; none while that is not known.
# TYPE fleetscale_federatedhpa_desired_replicas gauge
fleetscale_federatedhpa_desired_replicas{name="web",namespace="shop"} 12
# HELP fleetscale_federatedhpa_metric_target The target of a metric, in base units; utilization as a ratio of requests.
# TYPE fleetscale_federatedhpa_metric_target gauge
fleetscale_federatedhpa_metric_target{index="0",metric="queue_depth",name="web",namespace="shop"} 10
fleetscale_federatedhpa_metric_target{index="1",metric="queue_depth",name="web",namespace="shop"} 10
# HELP fleetscale_federatedhpa_metric_value A metric as last read, in base units; utilization as a ratio of requests.
# TYPE fleetscale_federatedhpa_metric_value gauge
fleetscale_federatedhpa_metric_value{index="1",metric="queue_depth",name="web",namespace="shop"} 1.5
# HELP fleetscale_federatedhpa_mode 1 for the spec.mode: Active, Observe or Paused.
# TYPE fleetscale_federatedhpa_mode gauge
fleetscale_federatedhpa_mode{mode="Active",name="web",namespace="shop"} 1
# HELP fleetscale_federatedhpa_ready_replicas Ready Pods in all clusters; of a cluster that cannot be seen, as many as were last seen.
# TYPE fleetscale_federatedhpa_ready_replicas gauge
fleetscale_federatedhpa_ready_replicas{name="web",namespace="shop"} 8
# HELP fleetscale_federatedhpa_spec_max_replicas spec.maxReplicas.
# TYPE fleetscale_federatedhpa_spec_max_replicas gauge
fleetscale_federatedhpa_spec_max_replicas{name="web",namespace="shop"} 20
# HELP fleetscale_federatedhpa_spec_min_replicas spec.minReplicas.
# TYPE fleetscale_federatedhpa_spec_min_replicas gauge
fleetscale_federatedhpa_spec_min_replicas{name="web",namespace="shop"} 1
# HELP fleetscale_federatedhpa_state 1 for the state: Active, Limited, Held, Observing, Paused or Failing.
# TYPE fleetscale_federatedhpa_state gauge
fleetscale_federatedhpa_state{name="web",namespace="shop",state="Held"} 1
# HELP fleetscale_federatedhpa_without_series FederatedHPAs that have no series of their own, as there are more than --metrics-per-object.
# TYPE fleetscale_federatedhpa_without_series gauge
fleetscale_federatedhpa_without_series 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// A cluster that left has no series at the next reconcile, and an object none once it is gone.
func TestSeriesGoWithWhatTheyTellOf(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4})
	clusters := func() string {
		var all []string
		for labels := range w.series("fleetscale_federatedhpa_cluster_replicas") {
			if fields := strings.Fields(labels); fields[1] == "current" {
				all = append(all, fields[0])
			}
		}
		return fmt.Sprint(len(all), strings.Join(all, ""))
	}
	w.usesPercent(50)
	_ = w.reconcileN(2)
	if got := clusters(); got != "2ab" && got != "2ba" {
		t.Errorf("clusters %s", got)
	}
	same(t, "current", map[string]string{"web shop": "8"}, w.series("fleetscale_federatedhpa_current_replicas"))
	left := w.object().DeepCopy()
	left.Status.Clusters = left.Status.Clusters[:1]
	w.program.Metrics.show(left, w.program.MostShown)
	same(t, "clusters", "1a", clusters())
	w.hub.Remove(web)
	_, _ = w.reconcile(web)
	for _, name := range []string{"cluster_replicas", "current_replicas", "state", "metric_target"} {
		same(t, name, map[string]string{}, w.series("fleetscale_federatedhpa_"+name))
	}
}

// A large fleet does not flood the scraper; what it leaves out is counted, and gets the place of what goes.
func TestSeriesAreBounded(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	expect := func(when string, objects int, without string) {
		t.Helper()
		n, err := testutil.GatherAndCount(registry, "fleetscale_federatedhpa_state")
		if err != nil || n != objects {
			t.Errorf("%s: %d objects have series, want %d; %v", when, n, objects, err)
		}
		const head = `
# HELP fleetscale_federatedhpa_without_series FederatedHPAs that have no series of their own, as there are more than --metrics-per-object.
# TYPE fleetscale_federatedhpa_without_series gauge
fleetscale_federatedhpa_without_series `
		err = testutil.GatherAndCompare(registry, strings.NewReader(head+without+"\n"), "fleetscale_federatedhpa_without_series")
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	all := []*v1alpha1.FederatedHPA{drawn("a"), drawn("b"), drawn("c")}
	for range 2 {
		for _, f := range all {
			m.show(f, 2)
		}
	}
	expect("three of at most two", 2, "1")
	m.forget(client.ObjectKeyFromObject(all[0]))
	m.show(all[2], 2)
	expect("one is gone", 2, "0")
}

// In how many clusters a workload runs whole is told where it does: of one that is divided, 0 would be a number.
func TestCopiesAreToldWhereThereAreSome(t *testing.T) {
	for copies, want := range map[int32]int{0: 0, 2: 1} {
		registry, f := prometheus.NewRegistry(), drawn("web")
		f.Status.Explanation = &v1alpha1.DecisionExplanation{CurrentReplicas: 9, DesiredReplicas: 12, Copies: copies}
		NewMetrics(registry).show(f, 10)
		if n, err := testutil.GatherAndCount(registry, "fleetscale_federatedhpa_copies"); err != nil || n != want {
			t.Errorf("%d copies: %d series, %v; want %d", copies, n, err, want)
		}
	}
}

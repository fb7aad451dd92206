// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus/testutil"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// What kubectl shows of metrics.
func TestTargets(t *testing.T) {
	quantity := func(text string) *resource.Quantity { return new(resource.MustParse(text)) }
	current := func(v autoscalingv2.MetricValueStatus) autoscalingv2.MetricStatus {
		return autoscalingv2.MetricStatus{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{Current: v}}
	}
	memory := autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
			Name: corev1.ResourceMemory, Container: "app", Target: autoscalingv2.MetricTarget{AverageValue: quantity("1Gi")}}}
	pods := autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "requests"}, Target: autoscalingv2.MetricTarget{AverageValue: quantity("100")}}}
	object := autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "hits"}, Target: autoscalingv2.MetricTarget{Value: quantity("2k")}}}
	tests := map[string]struct {
		specs    []autoscalingv2.MetricSpec
		statuses []autoscalingv2.MetricStatus
		want     string
	}{
		"nothing is known yet": {[]autoscalingv2.MetricSpec{federatedhpatest.CPU(50)}, nil, "cpu: <unknown>/50%"},
		"in percent": {[]autoscalingv2.MetricSpec{federatedhpatest.CPU(50)},
			[]autoscalingv2.MetricStatus{current(autoscalingv2.MetricValueStatus{AverageUtilization: new(int32(63)),
				AverageValue: quantity("630m")})}, "cpu: 63%/50%"},
		"all types": {[]autoscalingv2.MetricSpec{memory, pods, object, federatedhpatest.Queue("30")}, []autoscalingv2.MetricStatus{
			{ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageValue: quantity(
				"900Mi")}}},
			{Pods: &autoscalingv2.PodsMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("120")}}},
			{Object: &autoscalingv2.ObjectMetricStatus{Current: autoscalingv2.MetricValueStatus{Value: quantity("1k")}}},
			{External: &autoscalingv2.ExternalMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("25")}}}},
			"memory of app: 900Mi/1Gi (avg), requests: 120/100 (avg), hits: 1k/2k, queue: 25/30 (avg)"},
		"one that could not be read": {[]autoscalingv2.MetricSpec{federatedhpatest.CPU(50), federatedhpatest.Queue("30")},
			[]autoscalingv2.MetricStatus{{},
				{External: &autoscalingv2.ExternalMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("25")}}}},
			"cpu: <unknown>/50%, queue: 25/30 (avg)"},
		"of a type that does not exist": {[]autoscalingv2.MetricSpec{{Type: "Other"}}, nil, "Other: <unknown>/<unset>"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { same(t, "targets", tc.want, summary.Targets(tc.specs, tc.statuses)) })
	}
}

func TestBrief(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", 20), strings.Repeat("a", 21), strings.Repeat("ü", 15),
		strings.Repeat("€", 9), "aaaaaaaaaaaaaaaa€€€", strings.Repeat("\xbf", 30)} {
		got := summary.Brief(text, 20)
		if len(got) > 20 || len(text) <= 20 && got != text || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// Texts of others are cut to what the API holds.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("long ", 10_000)
	tests := map[string]func(*world){
		"of an error": func(w *world) { w.hub.failGet = func() error { return errors.New(long) } },
		"of a member": func(w *world) { w.members["east"].Silent = &fleet.Silence{Reason: fleet.Reason(long), Detail: long} },
	}
	for name, arrange := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			arrange(w)
			_ = w.reconcileN(1)
			s := w.object().Status
			for _, c := range s.Conditions {
				if len(c.Message) > summary.LongestCondition {
					t.Errorf("a message of %s is %d bytes long", c.Type, len(c.Message))
				}
			}
			for _, c := range s.Clusters {
				if len(c.Message) > summary.LongestMessage || len(c.Reason) > summary.LongestReason {
					t.Errorf("what is said of %s is %d and %d bytes long", c.Name, len(c.Reason), len(c.Message))
				}
			}
			for _, e := range w.Heard() {
				if _, note, _ := strings.Cut(e, ": "); len(note) > summary.LongestNote {
					t.Errorf("an Event is %d bytes long", len(note))
				}
			}
		})
	}
}

// Fields of clusters: age of metrics by the cluster's clock, weights, since when.
func TestClusterFields(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("StaticWeighted", weight("a", 3), weight("b", 1)))
	w.members["a"].Offset = -20 * time.Second
	w.answer = func(m *replicas.Metric) {
		for name, sample := range m.Pods["b"] {
			sample.At = sample.At.Add(-30 * time.Second)
			m.Pods["b"][name] = sample
		}
	}
	_ = w.reconcileN(2)
	w.members["b"].Silent = federatedhpatest.Silence()
	_ = w.reconcileN(2)
	a, b := w.object().Status.Clusters[0], w.object().Status.Clusters[1]
	same(t, "ages", []int32{0}, []int32{*a.MetricAgeSeconds})
	same(t, "weights", []int64{3, 1}, []int64{*a.Weight, *b.Weight})
	same(t, "since", []string{"09:30:00", "09:30:30"}, []string{a.Since.Format(time.TimeOnly), b.Since.Format(time.TimeOnly)})
	same(t, "message", "no answer within the deadline", b.Message)
	if b.MetricAgeSeconds != nil || b.Priority != nil {
		t.Errorf("said of the silent cluster: %+v", b)
	}
	same(t, "Ready Pods", int32(8), *w.object().Status.ReadyReplicas)
	w.members["b"].Silent = nil
	_ = w.reconcileN(1)
	same(t, "age", int32(30), *w.object().Status.Clusters[1].MetricAgeSeconds)
	same(t, "Event", true, slices.Contains(w.Heard(), "ClusterStateChanged: cluster b is Active again"))
}

// Series are those of the documentation, and those of an object end with it.
func TestMetrics(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4, "c": 4})
	w.members["b"].FailSet = func() error { return errors.New("no") }
	w.members["c"].Silent = federatedhpatest.Silence()
	w.usesPercent(100)
	_ = w.reconcileN(1)
	w.hub.Put(federatedhpatest.NewObject("broken"))
	_, _ = w.reconcile(objectKey("broken"))
	if problems, err := testutil.GatherAndLint(w.registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	const of, own = "fleetscale_horizontal_pod_autoscaler_controller_", "fleetscale_federatedhpa_"
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(wantMetrics), own+"unseen", own+"member_scale_writes_total",
		of+"desired_replicas", of+"num_horizontal_pod_autoscalers", of+"reconciliations_total"); err != nil {
		t.Error(err)
	}
	w.hub.Remove(web)
	w.hub.Remove(objectKey("broken"))
	_, _ = w.reconcile(objectKey("broken"))
	_, _ = w.reconcile(web)
	if n, err := testutil.GatherAndCount(w.registry, of+"desired_replicas", own+"unseen"); n > 0 || err != nil {
		t.Errorf("%d series are left, %v", n, err)
	}
}

const wantMetrics = `
# HELP fleetscale_federatedhpa_member_scale_writes_total Writes of replicas to a member, by result: ok or error.
# TYPE fleetscale_federatedhpa_member_scale_writes_total counter
fleetscale_federatedhpa_member_scale_writes_total{cluster="a",result="ok"} 1
fleetscale_federatedhpa_member_scale_writes_total{cluster="b",result="error"} 1
# HELP fleetscale_federatedhpa_unseen FederatedHPAs that cannot see the cluster, and so do not scale in.
# TYPE fleetscale_federatedhpa_unseen gauge
fleetscale_federatedhpa_unseen{cluster="c"} 1
# HELP fleetscale_horizontal_pod_autoscaler_controller_desired_replicas Replicas that the fleet should run, by FederatedHPA.
# TYPE fleetscale_horizontal_pod_autoscaler_controller_desired_replicas gauge
fleetscale_horizontal_pod_autoscaler_controller_desired_replicas{hpa_name="broken",namespace="shop"} 0
fleetscale_horizontal_pod_autoscaler_controller_desired_replicas{hpa_name="web",namespace="shop"} 16
# HELP fleetscale_horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers FederatedHPAs in central mode.
# TYPE fleetscale_horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers gauge
fleetscale_horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers 2
# HELP fleetscale_horizontal_pod_autoscaler_controller_reconciliations_total Reconciliations of a FederatedHPA, by what was written (action) and what went wrong (error).
# TYPE fleetscale_horizontal_pod_autoscaler_controller_reconciliations_total counter
fleetscale_horizontal_pod_autoscaler_controller_reconciliations_total{action="none",error="internal"} 1
fleetscale_horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_up",error="internal"} 1
`

// Pods that run in a cluster and were not measured, as where there is no metrics-server, are counted.
func TestUnmeasuredReplicas(t *testing.T) {
	w := onHub(t)
	w.use = func(cluster, pod string) int64 {
		if cluster == "west" {
			return -1
		}
		return 50
	}
	_ = w.reconcileN(1)
	counts := map[string]int32{}
	for _, c := range w.object().Status.Clusters {
		counts[c.Name] = ptr.Deref(c.UnmeasuredReplicas, -1)
	}
	same(t, "unmeasured", map[string]int32{"east": 0, "west": 5}, counts)
	w.use = func(string, string) int64 { return 50 }
	_ = w.reconcileN(1)
	same(t, "unmeasured once there are metrics", int32(0), ptr.Deref(w.object().Status.Clusters[1].UnmeasuredReplicas, -1))
}

func TestClocksThatAreNotBelieved(t *testing.T) {
	for offset, want := range map[time.Duration]string{
		0: "", 59 * time.Second: "", -59 * time.Second: "",
		time.Minute: "clocks are off by 1m0s or more, of which 1m0s is taken into account; synchronize them with the hub's:" +
			" east (ahead)",
		-time.Minute: "clocks are off by 1m0s or more, of which 1m0s is taken into account; synchronize them with the hub's:" +
			" east (behind)",
	} {
		w := onHub(t)
		w.member("east").Offset = offset
		_ = w.reconcileN(1)
		same(t, fmt.Sprintf("said of %v", offset), want, summary.Condition(&w.object().Status, v1alpha1.ClockSkewed).Message)
		w.member("east").Offset = 0
		_ = w.reconcileN(1)
		if want != "" {
			same(t, "said then", "the clock of every cluster is near enough to the hub's",
				summary.Condition(&w.object().Status, v1alpha1.ClockSkewed).Message)
		}
	}
}

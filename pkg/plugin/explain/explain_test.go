// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var now = time.Date(2027, 3, 1, 9, 30, 6, 0, time.UTC)

// cart asks for 12 replicas by cpu, and has no more than 8.
func cart() *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{}
	f.Namespace, f.Name, f.Generation = "shop", "cart", 3
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(int32(2)), 8
	f.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu",
		Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: new(resource.MustParse("150m"))}}}}
	f.Status.ObservedGeneration, f.Status.DesiredReplicas = new(int64(3)), 8
	f.Status.LastScaleTime = &metav1.Time{Time: now.Add(-time.Hour)}
	f.Status.Summary = &v1alpha1.FederatedHPASummary{State: v1alpha1.StateLimited}
	age := func(n int32) *int32 { return &n }
	f.Status.Explanation = &v1alpha1.DecisionExplanation{
		Time: metav1.NewMicroTime(now.Add(-6 * time.Second)), Basis: "Metrics", LimitedBy: "Bounds", CurrentReplicas: 8, DesiredReplicas: 8,
		Metrics: []v1alpha1.MetricExplanation{{
			Name: "cpu", Rule: "AverageValue", Target: 150, Value: 247, Filled: new(int64(216)), Unready: true, ToleranceDown: "0.1",
			ToleranceUp: "0.1", Outcome: "Scaled", Told: 8, Multiplied: 8, Asks: 12,
			Fleet: &v1alpha1.PodSums{Counted: 7, Used: 1730, Unready: 1},
			Clusters: []v1alpha1.ClusterSums{
				{Name: "east", ClusterPods: v1alpha1.ClusterPods{Counted: 4, Used: 1020}, AgeSeconds: age(9)},
				{Name: "west", ClusterPods: v1alpha1.ClusterPods{Counted: 3, Unready: 1, Used: 710}, AgeSeconds: age(12)},
			},
		}},
		Steps: []v1alpha1.ExplanationStep{
			{Step: "Metrics", Replicas: 12},
			{Step: "Window", Replicas: 12, DownSeconds: new(int64(300)), Highest: age(12)},
			{Step: "Policy", Replicas: 12, Limit: age(16)},
			{Step: "Bounds", Replicas: 8, Lowest: age(2), Highest: age(8)},
		},
		Division: &v1alpha1.DivisionExplanation{Policy: "StaticWeighted", Clusters: []v1alpha1.ClusterDivision{
			{Name: "east", From: 4, To: 4}, {Name: "west", From: 4, To: 4}}},
	}
	return f
}

func same(t *testing.T, want, got string) {
	t.Helper()
	fleettest.Same(t, "", trimmed(want), trimmed(got))
}

// trimmed is a text without spaces at the ends of its lines.
func trimmed(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func TestCentral(t *testing.T) {
	got, err := textOf(cart(), cronplan.Target{}, now)
	if err != nil {
		t.Fatal(err)
	}
	same(t, `
FederatedHPA shop/cart: 8 replicas, from 8: minReplicas and maxReplicas hold it
  decided 6s ago, and last scaled 60m ago; it is Limited
  metric 0: cpu, target 150 for each Pod, on average; amounts in milli
    CLUSTER   COUNTED   UNREADY   MISSING   LEAVING   USED   REQUESTED   AGE
    east      4         0         0         0         1020   0           9s
    west      3         1         0         0         710    0           12s
    fleet     7         1         0         0         1730   0
    value      1730 // 7 = 247                                7 Pods with a sample
    filled     1730 // (7 + 1) = 216                          with 1 Pod not ready as if idle
    tolerance  1 - 0.1 <= 216 / 150 <= 1 + 0.1 ? no
    asks       ceil(216 / 150 * 8) = 12
    most asked max(0, 12) = 12
    window     max(12, 12) = 12                               highest of the last 300 s: 12
    policy     min(12, max(2 * 8, 4)) = 12                    without spec.behavior: at most twice as many, and always 4
    bounds     max(min(12, 8), 2) = 8                         minReplicas and maxReplicas, where the direction asks for them
    divided    4 + 4 = 8                                      StaticWeighted: east 4, west 4
`, got)
}

// While the first metrics fail the status has to say 0, which is not what it was told by then.
func TestCentralUndecided(t *testing.T) {
	o := cart()
	o.Status.DesiredReplicas, o.Status.LastScaleTime, o.Status.Summary = 0, nil, nil
	o.Status.Explanation = &v1alpha1.DecisionExplanation{
		Time: metav1.NewMicroTime(now.Add(-6 * time.Second)), Basis: "NoMetrics", LimitedBy: "NoMetrics", CurrentReplicas: 8, DesiredReplicas: 8,
	}
	got, err := textOf(o, cronplan.Target{}, now)
	if err != nil {
		t.Fatal(err)
	}
	same(t, `
FederatedHPA shop/cart: 8 replicas, from 8: the metrics cannot be used
  decided 6s ago, and never scaled
  the metrics cannot be used, or some cannot and the others ask for fewer: nothing changes
`, got)
}

func TestWhatIf(t *testing.T) {
	out := &bytes.Buffer{}
	o := WhatIfOptions{Set: []string{"spec.maxReplicas=20", "spec.metrics[0].resource.target.averageValue=200m"}, Format: "text"}
	if err := o.print(out, cart(), now); err != nil {
		t.Fatal(err)
	}
	same(t, `
FederatedHPA shop/cart: 8, and then 12 replicas, from 8, by what was known 6s ago
                        NOW           THEN
    metric 0 cpu asks   12 (Scaled)   8 (WithinTolerance)
    most asked          12            8
    window              12            12
    policy              12            12
    bounds              8             12
    limited by          Bounds        Window
    replicas            8             12
  how the clusters would divide the replicas is not shown: that goes by more than the sums
then:
  metric 0: cpu, target 200 for each Pod, on average; amounts in milli
    value      1730 // 7 = 247                                7 Pods with a sample
    filled     1730 // (7 + 1) = 216                          with 1 Pod not ready as if idle
    tolerance  1 - 0.1 <= 216 / 200 <= 1 + 0.1 ? yes
    asks       8 = 8                                          within the tolerance: nothing changes
    most asked max(0, 8) = 8
    window     max(8, 12) = 12                                highest of the last 300 s: 12
    policy     min(12, max(2 * 8, 4)) = 12                    without spec.behavior: at most twice as many, and always 4
    bounds     max(min(12, 20), 2) = 12                       minReplicas and maxReplicas, where the direction asks for them
`, out.String())
}

func TestWhatIfRefuses(t *testing.T) {
	tests := map[string]struct{ set, want string }{
		"no field":   {"spec.maxReplica=20", `--set: the spec could not be read then: json: unknown field "maxReplica"`},
		"no value":   {"spec.maxReplicas", "--set spec.maxReplicas: write FIELD=VALUE, such as spec.maxReplicas=20"},
		"the status": {"status.desiredReplicas=3", "--set status.desiredReplicas=3: only fields of the spec can be set: begin with spec"},
		"beyond it": {"spec.metrics[3].type=x",
			"--set spec.metrics[3].type=x: spec.metrics is a list of 1: give an index, such as spec.metrics[0]"},
		"no index": {"spec.metrics[a].type=x",
			`--set spec.metrics[a].type=x: the field "spec.metrics[a].type" has an index that is none: write it as [0]`},
		"not allowed": {"spec.maxReplicas=1", "--set: the spec would be refused: "},
		"not known": {"spec.metrics[0].resource.name=memory",
			"FederatedHPA shop/cart: spec.metrics[0]: what another metric would say is not known; only its target can be changed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := compare(cart(), []string{tc.set})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
	changed := cart()
	changed.Generation++
	if _, err := compare(changed, []string{"spec.maxReplicas=20"}); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("of a spec that was not decided by: %v", err)
	}
}

func TestNamed(t *testing.T) {
	for _, words := range [][]string{{"fhpa/cart"}, {"FHPA", "cart"}, {"federatedhpas.autoscaling.karmada.io/cart"}} {
		if of, name, err := named(words); err != nil || name != "cart" || of.names[0] != "fhpa" {
			t.Errorf("%v: %s %s %v", words, of.names, name, err)
		}
	}
	for _, words := range [][]string{{"cart"}, {"fhpa/"}, {"fhpa/cart", "x"}, {"hpa/cart"}} {
		if _, _, err := named(words); err == nil || !strings.Contains(err.Error(), "say which: TYPE/NAME") {
			t.Errorf("%v: %v", words, err)
		}
	}
}

func TestCron(t *testing.T) {
	c := &v1alpha1.CronFederatedHPA{}
	c.Namespace, c.Name = "shop", "cart"
	c.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{
		APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "FederatedHPA", Name: "cart",
	}
	c.Spec.Rules = []v1alpha1.CronFederatedHPARule{
		{Name: "evening", Schedule: "0 20 * * *", TargetMinReplicas: new(int32(2))},
		{Name: "never", Schedule: "0 1 * * *", TargetMinReplicas: new(int32(2)), Suspend: new(true)},
		{Name: "morning", Schedule: "0 19 * * *", TimeZone: new("Asia/Shanghai"), TargetMinReplicas: new(int32(50)),
			TargetMaxReplicas: new(int32(99))},
	}
	c.Status.ExecutionHistories = []v1alpha1.ExecutionHistory{{RuleName: "evening", TimeZone: "UTC",
		SuccessfulExecutions: []v1alpha1.SuccessfulExecution{{ScheduleTime: metav1.NewTime(now.Add(-time.Hour))}}}}
	same(t, `
CronFederatedHPA shop/cart sets FederatedHPA cart
  next: in 89m
    rule morning sets minReplicas 50 and maxReplicas 99
  it has minReplicas 50 and maxReplicas 60, and gets maxReplicas 99
    RULE      NEXT                        SCHEDULE     TIME ZONE       SETS                             LAST
    morning   2027-03-01T19:00:00+08:00   0 19 * * *   Asia/Shanghai   minReplicas 50, maxReplicas 99   never
    evening   2027-03-01T20:00:00Z        0 20 * * *   UTC             minReplicas 2                    succeeded 2027-03-01T08:30:06Z
    never     suspended                   0 1 * * *    UTC             minReplicas 2                    never
`, cron(c, cronplan.Target{Has: cronplan.Values{cronplan.MinReplicas: new(int32(50)), cronplan.MaxReplicas: new(int32(60))}}, now))
}

func TestDistributed(t *testing.T) {
	f := cart()
	f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: "StaticWeighted"}
	n := func(n int32) *int32 { return &n }
	f.Status.Clusters = []v1alpha1.ClusterStatus{
		{Name: "east", State: "Active", AssignedMin: n(1), AssignedMax: n(6), CurrentReplicas: n(6), ReadyReplicas: n(6), Weight: new(int64(3)),
			HPA: &autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: 6, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: "ScalingLimited", Status: "True", Reason: "TooManyReplicas"}}}},
		{Name: "west", State: "Unreachable", AssignedMin: n(1), AssignedMax: n(2), Reason: "Timeout", Message: "no answer within 5s"},
	}
	got, err := textOf(f, cronplan.Target{}, now)
	if err != nil {
		t.Fatal(err)
	}
	same(t, `
FederatedHPA shop/cart: 2..8 replicas, split by StaticWeighted; it is Limited
    CLUSTER   MIN   MAX   RUNS   READY   WANTS   ROOM   WEIGHT   PRIORITY   STATE         WHY
    east      1     6     6      6       6       -      3        -          Active        TooManyReplicas
    west      1     2     -      -       -       -      -        -          Unreachable   Timeout: no answer within 5s
    min        1 + 1 = 2
    max        6 + 2 = 8
  MIN and MAX are the bounds of each cluster's own HorizontalPodAutoscaler, which decides within them, and says WANTS.
  ROOM is how many replicas the cluster can host. The bounds are split by WEIGHT or PRIORITY, where the split goes by them.
`, got)
}

func TestMultidim(t *testing.T) {
	m := &v1alpha1.MultidimPodAutoscaler{}
	m.Namespace, m.Name = "shop", "cart"
	m.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "cart"}
	size := func(cpu, memory string) v1alpha1.Size {
		return v1alpha1.Size{CPU: new(resource.MustParse(cpu)), Memory: new(resource.MustParse(memory))}
	}
	m.Status.Recommendation = &v1alpha1.SizeRecommendation{Containers: []v1alpha1.ContainerRecommendation{{
		ContainerName: "app", UncappedTarget: size("900m", "1Gi"), Target: size("500m", "1Gi"), LowerBound: size("400m", "900Mi"),
		UpperBound: size("1", "2Gi"), CappedBy: []v1alpha1.Cap{{Resource: "cpu", Reason: "MaxAllowed"}}}}}
	same(t, `
MultidimPodAutoscaler shop/cart sizes Deployment cart
    CONTAINER   RESOURCE   BY USE   CAPPED BY    TARGET   UNCHANGED BETWEEN
    app         cpu        900m     MaxAllowed   500m     400m and 1
    app         memory     1Gi      -            1Gi      900Mi and 2Gi
  BY USE is what the container's use calls for, and TARGET what bounds make of it. A Pod is changed only if it requests
  less than the lower, or more than the upper, of the last two.
`, multidim(m))
}

// What members and tenants say stays in its place of a line, and is text.
func TestTextIsPrintable(t *testing.T) {
	const said = "no\x1b[2J\u009b\n  west joined\tand more"
	split := &v1alpha1.FederatedHPA{}
	split.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	split.Status.Clusters = []v1alpha1.ClusterStatus{
		{Name: "east", Reason: "Forbidden", Message: said},
		{Name: "west", HPA: &autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
			{Type: "ScalingLimited", Status: "True", Reason: said}}}},
	}
	split.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: v1alpha1.CapacityUnknown, Status: "True", Message: said}}
	sizes := &v1alpha1.MultidimPodAutoscaler{}
	sizes.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Forbidden", Message: said}}
	central := cart()
	central.Status.Explanation.Metrics[0].Name, central.Status.Explanation.Metrics[0].Error = said, said
	for name, object := range map[string]client.Object{"distributed": split, "multidim": sizes, "central": central} {
		var out bytes.Buffer
		if err := (&Options{Format: "text"}).print(&out, object, cronplan.Target{}, now); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if got != fleet.PrintableLines(got) || strings.Contains(got, "\n  west joined") || !strings.Contains(got, "west joined and more") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

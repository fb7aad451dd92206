// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// An explanation that the API server refused would take the whole status with it. It must store every one, and drop nothing of it.
func TestExplanationsAreStored(t *testing.T) {
	behavior := &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(60)), Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 10, PeriodSeconds: 60}}, Tolerance: new(resource.MustParse("0.123456789"))},
		ScaleDown: &autoscalingv2.HPAScalingRules{},
	}
	value := resource.NewMilliQuantity(1, resource.DecimalSI)
	q := replicas.Question{
		Spec:  autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: new(int32), MaxReplicas: math.MaxInt32, Behavior: behavior},
		Scale: replicas.Scale{Replicas: 5, StatusReplicas: 5, Selector: "app=web"},
		State: replicas.State{Recommendations: []replicas.Recommendation{}},
		Now:   time.Date(2027, 3, 1, 9, 30, 0, 123456789, time.UTC), Options: replicas.Options{Tolerance: 1e-30},
	}
	for i := range 40 {
		c := replicas.Cluster{Name: fmt.Sprintf("%060d", i), Pods: []replicas.Pod{{Name: "web", Phase: "Running"}}}
		if i%2 == 0 {
			c.Silent = &fleet.Silence{Reason: fleet.Reason(strings.Repeat("long", 50))}
		}
		q.Clusters = append(q.Clusters, c)
	}
	metric := func(answer replicas.Metric, name string) {
		q.Spec.Metrics = append(q.Spec.Metrics, autoscalingv2.MetricSpec{Type: "External", External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: name}, Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: value}}})
		q.Metrics = append(q.Metrics, answer)
	}
	metric(replicas.Metric{Values: []int64{math.MaxInt64}}, strings.Repeat("ü", 300))
	for range 31 {
		metric(replicas.Metric{Err: errors.New(strings.Repeat("<ü>", 300))}, "broken")
	}
	q.Spec.Metrics = append(q.Spec.Metrics[:31:31], autoscalingv2.MetricSpec{Type: "Pods", Pods: &autoscalingv2.PodsMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "load"}, Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: value}}})
	q.Metrics[31] = replicas.Metric{Pods: map[string]map[string]replicas.Sample{q.Clusters[1].Name: {"web": {Value: math.MaxInt64}}}}
	few := q
	few.Spec.Metrics, few.Metrics = q.Spec.Metrics[31:], q.Metrics[31:]
	few.Spec.Behavior = nil
	zero := few
	zero.Scale.Replicas = 0

	hub := servers(t)["FederatedHPA"]
	for name, q := range map[string]replicas.Question{"of many": q, "of few": few, "switched off": zero} {
		d := replicas.Decide(q)
		decided := &explanation.Decided{Spec: &q.Spec, At: q.Now, Current: q.Scale.Replicas, Replicas: d.Replicas, Copies: 40,
			Explanation: d.Explanation, Age: func(string) *int32 { return new(int32(math.MaxInt32)) }}
		decided.Division = &explanation.Division{Policy: "StaticWeighted"}
		for _, c := range q.Clusters {
			decided.Division.Clusters = append(decided.Division.Clusters,
				v1alpha1.ClusterDivision{Name: c.Name, To: math.MaxInt32, Why: "Unreachable"})
		}
		object := &v1alpha1.FederatedHPA{}
		object.Namespace, object.Name = "shop", "web"
		object.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
		object.Spec.MaxReplicas = 10
		object.Status.Explanation = explanation.Of(decided)
		isStored(t, hub, name, object)
	}
}

// isStored creates an object, and checks that its status is stored whole.
func isStored(t *testing.T, hub server, name string, object runtime.Object) {
	t.Helper()
	given, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	stored, faults := hub.create(t.Context(), given)
	if len(faults) > 0 {
		t.Errorf("%s: refused: %v", name, faults.ToAggregate())
	}
	if diff := cmp.Diff(given["status"], stored["status"]); diff != "" {
		t.Errorf("%s (-written +stored):\n%s", name, diff)
	}
}

// The same of the bounds of clusters, and of sizes.
func TestExplanationsOfSplitsAndSizesAreStored(t *testing.T) {
	s := assignment.Snapshot{Policy: assignment.StaticWeighted, UID: "uid", Min: 0, Max: math.MaxInt32, Changed: true,
		Now: time.Date(2027, 3, 1, 9, 30, 0, 123456789, time.UTC)}
	for i := range 10 {
		s.Sites = append(s.Sites, assignment.Site{
			Name: fmt.Sprintf("%063d", i), Current: 5, Unschedulable: 2, Additional: new(int32(math.MaxInt32)),
			Presence: assignment.Presence(i % 4), Standing: taints.Standing(i % 3),
			Autoscaler: assignment.Autoscaler{Ratios: []int64{math.MaxInt64}},
			Preference: assignment.Preference{Weight: int64(i), Priority: math.MinInt32, Floor: 3, Ceiling: math.MaxInt32 - int32(i)},
		})
	}
	entries := make([]int32, explanation.MostEntries)
	for _, policy := range []assignment.Policy{
		assignment.Duplicated, assignment.StaticWeighted, assignment.DynamicWeighted, assignment.Prioritized,
	} {
		s.Policy = policy
		object := &v1alpha1.FederatedHPA{}
		object.Namespace, object.Name = "shop", "web"
		object.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
		object.Spec.MaxReplicas = 10
		object.Status.Explanation = explanation.OfSplit(&explanation.Split{Snapshot: s, Step: assignment.Next(s),
			Why: func(string) string { return strings.Repeat("ü", 300) }, Entries: func(string) []int32 { return entries }})
		isStored(t, servers(t)["FederatedHPA"], string(policy), object)
	}
	template, grounds := &sizes.Template{}, map[string]sizes.Grounds{}
	for i := range 100 {
		c := sizes.Container{Name: fmt.Sprintf("%063d", i), Advice: sizes.Advice{Target: sizes.Amounts{1, 1 << 40}},
			MaxAllowed: sizes.Amounts{5, 5}, GoalFloor: sizes.Amounts{4, 4}, MinAllowed: sizes.Amounts{3, 3}}
		template.Containers = append(template.Containers, c)
		grounds[c.Name] = sizes.Grounds{Options: sizes.Options{Percentile: [2]int{90, 99}, Containers: 100}, Held: true}
	}
	object := &v1alpha1.MultidimPodAutoscaler{}
	object.Namespace, object.Name = "shop", "web"
	object.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	object.Status.Explanation = explanation.OfSizes(template, grounds, s.Now)
	isStored(t, servers(t)["MultidimPodAutoscaler"], "sizes", object)
}

// SPDX-License-Identifier: Apache-2.0

// Package replicastest has random questions for those who decide, explain and record.
package replicastest

import (
	"fmt"
	"math/rand/v2"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Start is when a question is asked.
var Start = time.Date(2027, 3, 1, 9, 30, 0, 123456000, time.UTC)

// Question is of a fleet of up to twelve clusters, with one to three metrics, windows, policies and copies.
func Question(r *rand.Rand) replicas.Question {
	current := r.Int32N(40) + 1
	if r.IntN(20) == 0 {
		current = 0
	}
	q := replicas.Question{
		Namespace: "shop",
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "cart"},
			MinReplicas:    new(r.Int32N(4)),
			MaxReplicas:    30 + r.Int32N(60),
		},
		Scale: replicas.Scale{Replicas: current, StatusReplicas: current, Selector: "app=cart"},
		Options: replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: []float64{0.1, 0.05, 0}[r.IntN(3)],
			CPUInitializationPeriod: 5 * time.Minute, InitialReadinessDelay: 30 * time.Second},
		Now: Start,
	}
	q.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScaledToZero, Status: corev1.ConditionTrue}}
	if r.IntN(4) == 0 {
		q.Copies = r.IntN(4)
	}
	if r.IntN(2) == 0 {
		q.Spec.Behavior = randomBehavior(r)
	}
	q.State.Recommendations = []replicas.Recommendation{}
	for range r.IntN(4) {
		at := Start.Add(-time.Duration(r.IntN(600)) * time.Second)
		q.State.Recommendations = append(q.State.Recommendations, replicas.Recommendation{Replicas: r.Int32N(50), At: at})
		q.State.ScaleUps = append(q.State.ScaleUps, replicas.Change{Replicas: r.Int32N(5), At: at})
		q.State.ScaleDowns = append(q.State.ScaleDowns, replicas.Change{Replicas: r.Int32N(5), At: at})
	}
	randomClusters(r, &q)
	for range r.IntN(3) + 1 {
		AddMetric(r, &q)
	}
	return q
}

func randomBehavior(r *rand.Rand) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	rules := func() *autoscalingv2.HPAScalingRules {
		selected := []autoscalingv2.ScalingPolicySelect{autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect,
			autoscalingv2.DisabledPolicySelect}[min(r.IntN(7), 2)%3]
		rules := &autoscalingv2.HPAScalingRules{SelectPolicy: &selected}
		if r.IntN(2) == 0 {
			rules.StabilizationWindowSeconds = new([]int32{0, 60, 300}[r.IntN(3)])
		}
		if r.IntN(3) == 0 {
			rules.Tolerance = new(resource.MustParse([]string{"20m", "0.3", "0"}[r.IntN(3)]))
		}
		for range r.IntN(2) + 1 {
			rules.Policies = append(rules.Policies, autoscalingv2.HPAScalingPolicy{
				Type:  []autoscalingv2.HPAScalingPolicyType{autoscalingv2.PodsScalingPolicy, autoscalingv2.PercentScalingPolicy}[r.IntN(2)],
				Value: r.Int32N(60) + 1, PeriodSeconds: []int32{15, 60, 600}[r.IntN(3)],
			})
		}
		return rules
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
}

func randomClusters(r *rand.Rand, q *replicas.Question) {
	requests := make([]*replicas.Requests, 6)
	for i := range requests {
		requests[i] = replicas.RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(300+33*i), resource.DecimalSI)}}}}})
	}
	for i := range r.IntN(12) + 1 {
		c := replicas.Cluster{Name: fmt.Sprintf("member-%d", i), Drained: r.IntN(10) == 0}
		for j := range r.IntN(8) {
			p := replicas.Pod{Name: fmt.Sprintf("cart-%d", j), Phase: corev1.PodRunning, Started: Start.Add(-time.Hour),
				Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: Start.Add(-time.Hour)}, Requests: requests[r.IntN(1+r.IntN(6))]}
			switch r.IntN(12) {
			case 0:
				p.Phase = corev1.PodPending
			case 1:
				p.Terminating = true
			}
			c.Pods = append(c.Pods, p)
		}
		c.Replicas = new(int32(len(c.Pods)))
		c.Lagging = r.IntN(20) == 0
		if r.IntN(12) == 0 {
			c.Silent = &fleet.Silence{Reason: fleet.ReasonTimeout}
		}
		q.Clusters = append(q.Clusters, c)
	}
}

// AddMetric adds a metric, and its answer, to a question.
func AddMetric(r *rand.Rand, q *replicas.Question) {
	answer := replicas.Metric{Pods: map[string]map[string]replicas.Sample{}, Values: []int64{r.Int64N(100_000)}}
	if r.IntN(20) == 0 {
		answer.Err = fmt.Errorf("unable to fetch metrics from external metrics API")
	}
	load := r.Int64N(900)
	for _, c := range q.Clusters {
		samples := map[string]replicas.Sample{}
		for _, p := range c.Pods {
			if r.IntN(6) > 0 {
				samples[p.Name] = replicas.Sample{Value: load * r.Int64N(200) / 100, At: Start, Window: 15 * time.Second}
			}
		}
		if r.IntN(6) == 0 {
			samples["gone"] = replicas.Sample{Value: load, At: Start}
		}
		answer.Pods[c.Name] = samples
	}
	q.Metrics = append(q.Metrics, answer)
	value := func(milli int64) *resource.Quantity { return resource.NewMilliQuantity(milli, resource.DecimalSI) }
	external := func(target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "queue"}, Target: target}}
	}
	var spec autoscalingv2.MetricSpec
	switch r.IntN(5) {
	case 0, 1:
		spec = autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType,
				AverageUtilization: new(r.Int32N(150) + 1)}}}
	case 2:
		spec = autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "requests"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: value(r.Int64N(500) + 1)}}}
	case 3:
		spec = external(autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: value(r.Int64N(60_000) + 20_000)})
	default:
		spec = external(autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: value(r.Int64N(5000) + 1000)})
	}
	q.Spec.Metrics = append(q.Spec.Metrics, spec)
}

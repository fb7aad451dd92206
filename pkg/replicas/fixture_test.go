// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

var options = Options{
	StabilizationWindow:     5 * time.Minute,
	Tolerance:               0.1,
	CPUInitializationPeriod: 5 * time.Minute,
	InitialReadinessDelay:   30 * time.Second,
}

// half returns what a Pod of the tests requests: half a core, and 1 Gi.
func half() *Requests {
	return RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{container("app", "500m", "1Gi")}})
}

func container(name, cpu, memory string) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}}
}

// ask is a question of a workload that runs so many replicas, by the cpu of Pods: half of what they request.
func ask(replicas int32, clusters ...Cluster) Question {
	return Question{
		Namespace: "shop",
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"},
			MinReplicas:    new(int32(1)),
			MaxReplicas:    100,
			Metrics:        []autoscalingv2.MetricSpec{utilizationOf(corev1.ResourceCPU, 50)},
		},
		Scale:    Scale{Replicas: replicas, StatusReplicas: replicas, Selector: "app=web"},
		Clusters: clusters,
		Template: half(),
		Metrics:  []Metric{{}},
		State:    State{Recommendations: []Recommendation{}}, // no window restrains
		Options:  options,
		Now:      start,
	}
}

func utilizationOf(name corev1.ResourceName, percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: name, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

func amountOf(name corev1.ResourceName, q string) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: share(q)}}
}

func externalOf(target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue"}, Target: target}}
}

func value(q string) autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: new(resource.MustParse(q))}
}

func share(q string) autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse(q))}
}

// with replaces the metric by a single value, in milli.
func (q Question) with(spec autoscalingv2.MetricSpec, milli ...int64) Question {
	q.Spec.Metrics, q.Metrics = []autoscalingv2.MetricSpec{spec}, []Metric{{Values: milli}}
	return q
}

// by replaces the metric by another one of Pods.
func (q Question) by(spec autoscalingv2.MetricSpec) Question {
	q.Spec.Metrics = []autoscalingv2.MetricSpec{spec}
	return q
}

// use gives every measurable Pod of a cluster a sample of so many percent of half a core.
func (q Question) use(cluster string, percent int64) Question {
	if q.Metrics[0].Pods == nil {
		q.Metrics[0].Pods = map[string]map[string]Sample{}
	}
	samples := map[string]Sample{}
	for _, c := range q.Clusters {
		for _, p := range c.Pods {
			if c.Name == cluster && p.Phase == corev1.PodRunning {
				samples[p.Name] = Sample{Value: 5 * percent, At: start, Window: 15 * time.Second}
			}
		}
	}
	q.Metrics[0].Pods[cluster] = samples
	return q
}

// cluster has so many Pods that have been Ready for an hour, web-0, web-1, ...
func cluster(name string, pods int, change ...func(*Cluster)) Cluster {
	c := Cluster{Name: name}
	for i := range pods {
		c.Pods = append(c.Pods, old(fmt.Sprintf("web-%d", i)))
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func old(name string) Pod {
	hour := start.Add(-time.Hour)
	return Pod{Name: name, Phase: corev1.PodRunning, Ready: Ready{corev1.ConditionTrue, hour}, Started: hour, Requests: half()}
}

func assigned(n int32) func(*Cluster) { return func(c *Cluster) { c.Assigned = &n } }

func silent(c *Cluster) { c.Silent = &fleet.Silence{Reason: fleet.ReasonTimeout} }

func answered(names ...string) *fleet.Coverage { return &fleet.Coverage{Answered: names} }

// decided is a decision in one line: replicas, then the reason of each condition that says something else than usual.
func decided(d Decision) string {
	usual := map[string]bool{ReasonSucceededGetScale: true, ReasonReadyForNewScale: true, ReasonValidMetricFound: true,
		ReasonDesiredWithinRange: true, ReasonAllClustersVisible: true}
	words := []string{fmt.Sprint(d.Replicas)}
	if d.Err != nil && !d.Rescale {
		words = []string{"error"}
	}
	for _, c := range d.Status.Conditions {
		if !usual[c.Reason] {
			words = append(words, c.Reason)
		}
	}
	return strings.Join(words, " ")
}

// ignoringPlan compares decisions by what others see of them, and errors by their words.
var ignoringPlan = cmp.Options{
	cmpopts.IgnoreFields(Decision{}, "plan"),
	cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
}

func check(t *testing.T, got Decision, want string) {
	t.Helper()
	if diff := cmp.Diff(want, decided(got)); diff != "" {
		t.Errorf("decided (-want +got):\n%s%v\n%+v", diff, got.Err, got.Explanation)
	}
}

func same[T any](t *testing.T, what string, want, got T, options ...cmp.Option) {
	t.Helper()
	fleettest.Same(t, what, want, got, options...)
}

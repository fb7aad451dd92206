// SPDX-License-Identifier: Apache-2.0

// Package recordingtest makes records for tests.
package recordingtest

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Start is when an hour begins.
var Start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

// Hour is the record of FederatedHPAs of the namespace shop, each of an hour with a decision every 15 s: half of it calm, half busy. A Pod
// requests 500 m, the target is 50 %, and there may be 2 to 12 Pods.
func Hour(start time.Time, names ...string) []byte {
	encoder, stream := recording.NewEncoder(), []byte(recording.Magic)
	for _, name := range names {
		current, state, spec := int32(4), replicas.State{}, specOf(name)
		for step := range 241 {
			load := int64(900)
			if step > 120 {
				load = 3600
			}
			q := Question(spec, current, load, start.Add(time.Duration(step)*15*time.Second))
			q.State = state
			d := replicas.Decide(q)
			r := recording.New(recording.Object{Namespace: "shop", Name: name, UID: "1"}, spec, &q, &d)
			r.Facts = []recording.Facts{{Ready: new(current), Age: new(int32(12))}}
			if d.Rescale {
				d = d.Scaled(q.Now)
				r.Outcome, r.After = recording.Scaled, d.Replicas
			}
			var err error
			if stream, err = encoder.Append(stream, r); err != nil {
				panic("a record that cannot be written: " + err.Error())
			}
			current, state = r.After, d.State
		}
	}
	return stream
}

func specOf(name string) *v1alpha1.FederatedHPASpec {
	f := &v1alpha1.FederatedHPA{}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(int32(2)), 12
	f.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name:   corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))},
	}}}
	v1alpha1.DefaultFederatedHPA(f)
	return &f.Spec
}

// Question is of a workload of that many Pods in one cluster, which use so many millicores together.
func Question(spec *v1alpha1.FederatedHPASpec, current int32, load int64, now time.Time) replicas.Question {
	q := replicas.Question{
		Namespace: "shop", Spec: spec.HorizontalPodAutoscalerSpec, Now: now, Clusters: []replicas.Cluster{{Name: "east"}},
		Scale:   replicas.Scale{Replicas: current, StatusReplicas: current, Selector: "app=cart"},
		Options: replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1},
		Metrics: []replicas.Metric{{Pods: map[string]map[string]replicas.Sample{"east": {}}}},
	}
	requests := replicas.RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}}}})
	for i := range int64(current) {
		p := replicas.Pod{Name: fmt.Sprint("cart-", i), Phase: corev1.PodRunning, Started: now.Add(-time.Hour), Requests: requests,
			Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: now.Add(-time.Hour)}}
		q.Clusters[0].Pods = append(q.Clusters[0].Pods, p)
		q.Metrics[0].Pods["east"][p.Name] = replicas.Sample{Value: load / int64(current), At: now}
	}
	return q
}

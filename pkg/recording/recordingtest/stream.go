// SPDX-License-Identifier: Apache-2.0

// Package recordingtest makes records for tests.
package recordingtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Start is when an hour begins.
var Start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

// Hour is the record of FederatedHPAs of the namespace shop, each of an hour with a decision every 15 s: half of it calm, half busy. A Pod
// requests 500 m, the target is 50 %, and there may be 2 to 12 Pods.
func Hour(start time.Time, names ...string) []byte {
	var all []*recording.Record
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
			all = append(all, r)
			current, state = r.After, d.State
		}
	}
	return Stream(all...)
}

// SplitHour is the record of an hour of the FederatedHPA shop/cart in distributed mode, of so many clusters, m0 and so on, of the same
// weight. They may have ten replicas each; m0 needs 15, and the others 2. In the second half of it m1 is silent.
func SplitHour(start time.Time, clusters int) []byte {
	const steps = 241
	f := NewFleet(calm{}, clusters, steps)
	a := f.Spec.FederatedHPAAssignment
	f.Start, f.Spec.MinReplicas, f.Spec.MaxReplicas = start, new(int32(clusters)), int32(10*clusters)
	a.DistributionOrder = v1alpha1.DistributionMaxFirst
	a.FederatedHPAAssignmentType, a.ClusterAutoscalingPreference = v1alpha1.AssignmentStaticWeighted, nil
	for i := range clusters {
		name, load := fmt.Sprint("m", i), int32(2)
		if i == 0 {
			load = 15
		}
		f.Loads[name] = slices.Repeat([]int32{load}, steps)
		a.ClusterAutoscalingPreference = append(a.ClusterAutoscalingPreference, v1alpha1.TargetClusterAutoscalingPreference{
			TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{name}}, StaticWeight: new(int32(1))})
	}
	f.Happen = func(step int, s *assignment.Snapshot) {
		if step > steps/2 && clusters > 1 {
			s.Sites[1].Presence = assignment.Silent
		}
	}
	return Stream(f.Run(steps)...)
}

// calm is a [Random] that is not.
type calm struct{}

func (calm) IntN(int) int       { return 0 }
func (calm) Int32N(int32) int32 { return 0 }
func (calm) Int64N(int64) int64 { return 0 }

// Stream is one of records.
func Stream(records ...*recording.Record) []byte {
	encoder, stream := recording.NewEncoder(), []byte(recording.Magic)
	for _, r := range records {
		var err error
		if stream, err = encoder.Append(stream, r); err != nil {
			panic("a record that cannot be written: " + err.Error())
		}
	}
	return stream
}

// Read returns the records that are left of a stream.
func Read(t testing.TB, d *recording.Decoder) (all []*recording.Record) {
	t.Helper()
	for {
		r, err := d.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// Again is a record as it is read again.
func Again(t testing.TB, r *recording.Record) *recording.Record {
	t.Helper()
	return Read(t, recording.NewDecoder(bytes.NewReader(Stream(r))))[0]
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

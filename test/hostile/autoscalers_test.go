// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/sim"
)

// Workloads of users, and their namespaces.
const (
	// steady is in all clusters, under a load that never changes.
	steady = "steady"
	// moving is in the honest ones, which alone its autoscaler is for; its load changes.
	moving = "moving"

	few, many = 6, 12
	target    = 50
	old       = time.Hour
)

// of is a share of what a Pod requests, in percent.
func of(percent int64) sim.Resources {
	return sim.Resources{CPU: *resource.NewMilliQuantity(percent, resource.DecimalSI)} // of 100m
}

// autoscale has users' workloads run, and their autoscalers be there.
func (s *scene) autoscale() error {
	var errs []error
	pods := 0
	for i, m := range s.fleet.Members()[1:] {
		errs = append(errs, m.Run(sim.Workload{Namespace: steady, Name: steady, Replicas: 2, Usage: of(target), Age: old}))
		pods += 2
		if i < len(s.honest) {
			errs = append(errs, m.Run(sim.Workload{Namespace: moving, Name: moving, Replicas: few / len(s.honest), Usage: of(target), Age: old}))
		}
	}
	var names []string
	for _, m := range s.honest {
		names = append(names, m.Name())
	}
	everywhere, some := autoscaler(steady, 2*pods), autoscaler(moving, many)
	some.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: names}
	some.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{}
	some.Spec.MinReplicas = new(int32(few))
	return errors.Join(errors.Join(errs...), s.hub.Put(everywhere), s.hub.Put(some),
		s.hub.Run(sim.Workload{Namespace: steady, Name: steady, Replicas: pods, Template: true}),
		s.hub.Run(sim.Workload{Namespace: moving, Name: moving, Replicas: few, Template: true}))
}

func autoscaler(name string, most int) *v1alpha1.FederatedHPA {
	return &v1alpha1.FederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name},
		Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: sim.Deployment, Name: name},
			MinReplicas:    new(int32(1)), MaxReplicas: int32(most),
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType,
					AverageUtilization: new(int32(target))}}}},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
				ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0)), Policies: []autoscalingv2.HPAScalingPolicy{
					{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 1}}},
				ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0)), Policies: []autoscalingv2.HPAScalingPolicy{
					{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 1}}},
			},
		}},
	}
}

// move changes the load of moving, and returns when its replicas have followed: an attack stops no autoscaler of others.
func (s *scene) move(t *testing.T) {
	t.Helper()
	before, err := s.moved()
	want, load := few, int64(target/5)
	if before == few {
		want, load = many, 2*target
	}
	for _, m := range s.honest {
		err = errors.Join(err, m.SetUsage(sim.Deployment, moving, moving, of(load)))
	}
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err = fixture.Await(t.Context(), patience, func(context.Context) error {
		got, err := s.moved()
		if err == nil && got != want {
			err = fmt.Errorf("%d replicas instead of %d", got, want)
		}
		return err
	})
	if err != nil {
		t.Errorf("the autoscaler of others does not follow its load: %v", err)
	}
	t.Logf("an autoscaler followed its load after %v", time.Since(begin).Round(time.Second))
}

// moved is how many replicas moving has.
func (s *scene) moved() (all int, err error) {
	for _, m := range s.honest {
		n, failed := m.Replicas(sim.Deployment, moving, moving)
		all, err = all+n, errors.Join(err, failed)
	}
	return all, err
}

// stood reports what was scaled under a load that never changed.
func (s *scene) stood(t *testing.T) {
	t.Helper()
	for _, w := range s.hub.ScaleWrites() {
		if w.Namespace == steady {
			t.Errorf("%s was scaled from %d to %d at %v, and its load is the same", w.Name, w.From, w.To, w.At)
		}
	}
}

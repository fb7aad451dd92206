// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"math/rand/v2"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// scenario is a workload, what is asked of it, and what surrounds it.
type scenario struct {
	seed     uint64
	template []goals.Container
	split    []float64 // by what part of a Pod's use is of each container
	target   int32     // percent
	minimum  int32
	maximum  int32
	// minAllowed and maxAllowed are of each container, in thousandths of a core.
	minAllowed, maxAllowed int64
	room                   sizes.Room
	percentile             int
	clusters               []string
	resizes                int           // that may be sent to a cluster in one reconcile
	lag                    time.Duration // of a resize
	birth                  time.Duration // from when a Pod is made until it is Ready
	spare                  float64       // what Pods of a cluster can use together beyond their requests, in thousandths; below 0: all
	refuses                bool          // kubelets: some resizes never come to be, and Pods are evicted for that
	history                time.Duration // for how long the load was as it is when the run begins
	guaranteed             bool
	steady                 bool // the load stays within a few percent
	demand                 []float64
}

func (s *scenario) String() string {
	return fmt.Sprintf("template %v split %v guaranteed %t target %d%% replicas %d-%d allowed %d-%d percentile %d clusters %d resizes %d "+
		"lag %v birth %v spare %.0f refuses %t history %v", s.template, s.split, s.guaranteed, s.target, s.minimum, s.maximum, s.minAllowed,
		s.maxAllowed, s.percentile, len(s.clusters), s.resizes, s.lag, s.birth, s.spare, s.refuses, s.history)
}

// spec is the MultidimPodAutoscaler's.
func (s *scenario) spec() *v1alpha1.MultidimPodAutoscalerSpec {
	m := &v1alpha1.MultidimPodAutoscaler{Spec: v1alpha1.MultidimPodAutoscalerSpec{
		Goals: &v1alpha1.Goals{Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
				Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &s.target}}}}},
		Constraints: v1alpha1.Constraints{
			Global:                       &v1alpha1.GlobalConstraints{MinReplicas: &s.minimum, MaxReplicas: s.maximum},
			ContainerControlledResources: []corev1.ResourceName{corev1.ResourceCPU},
		},
	}}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	return &m.Spec
}

// base is what the template requests.
func (s *scenario) base() (milli int64) {
	for _, c := range s.template {
		milli += c.Requests.CPU
	}
	return milli
}

// use is what a Pod may use until the fleet grows.
func (s *scenario) use() int64 { return s.base() * int64(s.target) / 100 }

// hidden reports whether what Pods use is hidden by the template's own limits, or on full nodes by its requests.
func (s *scenario) hidden() bool {
	use := float64(s.use())
	if s.spare >= 0 && float64(s.base()) < 1.2*use {
		return true
	}
	for n, c := range s.template {
		if c.Limits.CPU > 0 && float64(c.Limits.CPU) < 1.2*use*s.split[n] {
			return true
		}
	}
	return false
}

type dice struct{ *rand.Rand }

func (d dice) between(low, high float64) float64 { return low + (high-low)*d.Float64() }
func (d dice) one(in int) bool                   { return d.IntN(in) == 0 }
func (d dice) span(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most/time.Second))) * time.Second
}

// scenarioOf is the scenario of a seed, of two days.
func scenarioOf(seed uint64) *scenario {
	d := dice{rand.New(rand.NewPCG(seed, 4))}
	s := &scenario{seed: seed, template: []goals.Container{{Name: "app"}}, split: []float64{1}, minAllowed: sizes.None,
		maxAllowed: sizes.None, room: sizes.Unlimited(), percentile: 90, spare: -1}
	s.clusters = []string{"east", "north", "west"}[:1+d.IntN(3)]
	s.target, s.minimum = 30+d.Int32N(65), 1+d.Int32N(3)
	s.maximum = s.minimum + 1 + d.Int32N(40)
	s.template[0].Requests.CPU = 100 + d.Int64N(1900)
	s.resizes, s.birth = 1+d.IntN(20), 5*time.Second+d.span(2*time.Minute)
	s.lag = d.span([]time.Duration{time.Minute, 10 * time.Minute}[d.IntN(2)])
	s.history = time.Duration(d.IntN(3)) * 48 * time.Hour
	if d.one(3) {
		s.percentile = 50 + d.IntN(50)
	}
	s.bound(d)
	s.ask(d)
	s.refuses = seed%3 == 0
	return s
}

// bound chooses the Pod's form, and what bounds its size.
func (s *scenario) bound(d dice) {
	app := &s.template[0]
	switch d.IntN(6) {
	case 0: // a limit that stays
		app.Limits.CPU = int64(float64(app.Requests.CPU) * d.between(1.01, 3))
	case 1:
		s.guaranteed = true
		app.Limits.CPU = app.Requests.CPU
		app.Requests.Memory, app.Limits.Memory = 1<<30, 1<<30
	case 2: // a second container, which uses another part than it requests
		s.template = append(s.template, goals.Container{Name: "log", Requests: goals.Amounts{CPU: 20 + d.Int64N(200)}})
		part := d.between(0.02, 0.5)
		s.split = []float64{1 - part, part}
		return
	case 3:
		s.spare = d.between(0, 500)
		return
	}
	if d.one(2) {
		s.minAllowed = 10 + d.Int64N(s.use())
	}
	if d.one(2) {
		s.maxAllowed = s.use() + d.Int64N(3*app.Requests.CPU)
	}
	if d.one(2) {
		s.room.Node, s.room.Headroom = sizes.Amounts{app.Requests.CPU*5/4 + d.Int64N(8000), sizes.None}, 10
	}
	if d.one(3) && app.Limits.CPU > 0 {
		s.room.Container.MaxRatio[sizes.CPU] = 3000 + d.Int64N(5000)
	}
	if d.one(3) && app.Limits.CPU == 0 {
		s.room.Container.Max[sizes.CPU] = app.Requests.CPU + d.Int64N(2000)
	}
}

// ask chooses the load: of so many Pods that work as they should.
func (s *scenario) ask(d dice) {
	full := float64(s.use()) / 1000
	mean, cost := full*d.between(0.3, 14), 50*time.Millisecond
	var l load
	switch d.IntN(8) {
	case 0:
		l, cost, s.steady = steady(mean), time.Millisecond, true
	case 1:
		l = step(mean, mean*d.between(0.05, 5), d.span(48*time.Hour))
	case 2, 3:
		period, length := 4*time.Hour+d.span(20*time.Hour), time.Minute+d.span(2*time.Hour)
		l = bursts(mean*d.between(0.01, 0.3), mean*d.between(1, 3), period, 2*time.Hour, length)
	case 4:
		l = bursts(mean/4, mean, 10*time.Minute+d.span(2*time.Hour), 0, time.Minute+d.span(10*time.Minute))
	default:
		l = wave(mean, d.between(0, 1.2), 10*time.Minute+d.span(30*time.Hour))
	}
	s.demand = poisson(l, int(48*time.Hour/tick), cost, d.Rand)
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	members = 10
	// together is how many autoscalers a namespace has.
	together = 10
	// target is the cpu that Pods should use, in percent of what they request.
	target = 50
	// grown is by how much all workloads grow when the load rises: to their maxReplicas.
	grown = 1.2
)

// world is the same autoscalers twice: FederatedHPAs on a hub, whose workloads run in a fleet, and
// HorizontalPodAutoscalers in one cluster, where as many Pods run. All API servers are simulated.
type world struct {
	autoscalers, replicas int

	fleet, single *sim.Fleet // single are the hub and the cluster
}

func newWorld(ctx context.Context, autoscalers int, p plan) (w *world, err error) {
	perMember := max(1, p.Pods/autoscalers/members)
	w = &world{autoscalers: autoscalers, replicas: perMember * members}
	if w.fleet, err = sim.New(ctx, sim.Options{Members: members, Resolution: p.Period}); err != nil {
		return nil, err
	}
	if w.single, err = sim.New(ctx, sim.Options{Members: 2, Resolution: p.Period}); err == nil {
		err = w.populate(perMember)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, stage.EnlistAt(w.hub(), w.fleet)
}

func (w *world) hub() *sim.Member { return w.single.Members()[0] }

func (w *world) cluster() *sim.Member { return w.single.Members()[1] }

func (w *world) close() error {
	err := w.fleet.Close()
	if w.single != nil {
		err = errors.Join(err, w.single.Close())
	}
	return err
}

func namespaceOf(i int) string { return fmt.Sprintf("team-%04d", i/together) }

func nameOf(i int) string { return fmt.Sprintf("app-%04d", i) }

// wanted returns what each workload should run when the load has risen.
func (w *world) wanted() int { return int(float64(w.replicas) * grown) }

func (w *world) populate(perMember int) error {
	// Pods that have just started count otherwise, in both controllers.
	const old = time.Hour
	for i := range w.autoscalers {
		workload := sim.Workload{Namespace: namespaceOf(i), Name: nameOf(i), Usage: usage(target), Age: old}
		workload.Replicas = perMember
		errs := []error{}
		for _, m := range w.fleet.Members() {
			errs = append(errs, m.Run(workload))
		}
		workload.Replicas = w.replicas
		errs = append(errs, w.cluster().Run(workload))
		workload.Template = true
		errs = append(errs, w.hub().Run(workload))
		meta, spec := metav1.ObjectMeta{Namespace: namespaceOf(i), Name: nameOf(i)}, w.spec(nameOf(i))
		errs = append(errs,
			w.cluster().Put(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta, Spec: spec}),
			w.hub().Put(&v1alpha1.FederatedHPA{ObjectMeta: meta, Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: spec}}))
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) spec(name string) autoscalingv2.HorizontalPodAutoscalerSpec {
	return autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: sim.Deployment, Name: name},
		MinReplicas:    new(int32(1)), MaxReplicas: int32(w.wanted()),
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType,
				AverageUtilization: new(int32(target))},
		}}},
	}
}

// usage is a share of what Pods request, in percent.
func usage(percent int64) sim.Resources {
	return sim.Resources{CPU: *resource.NewMilliQuantity(percent, resource.DecimalSI)} // of the 100m that a simulated Pod requests
}

// burden sets what all Pods use, in percent of what they request, from each cluster's next measurement on.
func (w *world) burden(percent int64) error {
	for _, m := range append([]*sim.Member{w.cluster()}, w.fleet.Members()...) {
		for i := range w.autoscalers {
			if err := m.SetUsage(sim.Deployment, namespaceOf(i), nameOf(i), usage(percent)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scaled counts the workloads of an API server that are as they were, and as they should be now. The others are wrong.
func (w *world) scaled(at *sim.Member) (before, after int, err error) {
	for i := range w.autoscalers {
		n, err := at.Replicas(sim.Deployment, namespaceOf(i), nameOf(i))
		if err != nil {
			return 0, 0, err
		}
		switch n {
		case w.replicas:
			before++
		case w.wanted():
			after++
		}
	}
	return before, after, nil
}

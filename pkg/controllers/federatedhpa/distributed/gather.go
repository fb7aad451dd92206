// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// gather collects what a step rests on. What is not available is noted as such: there is always a step.
func (m *Mode) gather(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) situation {
	seen, err := m.Fleet.Select(ctx, object, true)
	in := situation{Sight: seen, options: &m.Options, fault: specFault(err)}
	if in.Clusters == nil {
		return in
	}
	if m.Hub != nil {
		in.hub = m.Hub()
	}
	in.sites, in.split = sitesOf(&in.Sight, memory, m.Grace), memory.split
	workload.Each(ctx, m.Fleet.Timeout, in.sites, func(ctx context.Context, s *site) {
		s.Autoscalers = s.Member.Autoscalers(ctx, object.Namespace)
		if s.seeAutoscalers(object); s.presence != assignment.Leaving && s.here() {
			s.ReadScale(ctx, object.Namespace, object.Spec.ScaleTargetRef)
			s.seeScale()
		}
	})
	memory.resume(in.sites, in.Now, m.Grace)
	m.seeSetbacks(ctx, &in)
	in.fault = errors.Join(m.findTemplate(ctx, &in), in.fault)
	if in.fault != nil {
		return in
	}
	in.leaveUnpreferred()
	m.readPods(ctx, &in)
	for s := range sight.Pointers(in.sites) {
		s.notAwaited()
	}
	in.wanted = m.wants(ctx, &in)
	return in
}

// specFault is the error of selecting clusters as the status reports it.
func specFault(err error) error {
	var spec *selection.SpecError
	if errors.As(err, &spec) {
		return &fault{reason: record.ReasonInvalidSpec, message: spec.Error()}
	}
	return err
}

// leaveUnpreferred: a cluster without a preference, where that matters, takes no part.
func (in *situation) leaveUnpreferred() {
	for s := range sight.Pointers(in.sites) {
		if !s.Preferred && s.presence != assignment.Leaving {
			s.leaves(v1alpha1.ClusterExcluded, record.ReasonNotPreferred, "no entry of clusterAutoscalingPreference selects the cluster")
		}
	}
}

// readPods reads the workload's Pods, and what room there is for more.
func (m *Mode) readPods(ctx context.Context, in *situation) {
	policy := assignment.Policy(in.Object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType)
	workload.Each(ctx, m.Fleet.Timeout, in.sites, func(ctx context.Context, s *site) {
		if s.inSight() && s.Scale != nil {
			s.readPods(ctx, in.Object)
		}
		if policy.ByCapacity() && s.inSight() {
			s.Additional, s.Promised = workload.Room(ctx, s.Member, in.Object.Namespace, in.Object.Spec.ScaleTargetRef, s.template)
		}
	})
}

func (s *site) readPods(ctx context.Context, object *v1alpha1.FederatedHPA) {
	selector, err := labels.Parse(s.Scale.Status.Selector)
	if err != nil || selector.Empty() {
		s.leaves(v1alpha1.ClusterExcluded, reasonNoSelector,
			fmt.Sprintf("the workload's scale has no usable selector (%q), so its HorizontalPodAutoscaler could do nothing",
				s.Scale.Status.Selector))
		return
	}
	if s.Pods = s.Member.Pods(ctx, object.Namespace, selector); s.Pods.Silent != nil {
		s.silent(s.Pods.Silent)
		return
	}
	if assignment.Policy(object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType).ByCapacity() {
		s.ReadStuck(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	}
}

// wants reports whether a metric calls for replicas where none run: no autoscaler of a cluster is active then. Metrics of Pods
// have nothing to say.
func (m *Mode) wants(ctx context.Context, in *situation) bool {
	if !in.toZero() || in.native() || *in.Object.Spec.MinReplicas > 0 {
		return false
	}
	var clusters []string
	for s := range sight.Pointers(in.sites) {
		if s.presence == assignment.Leaving {
			continue
		}
		if s.current() > 0 {
			return false
		}
		clusters = append(clusters, s.Facts.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, m.Fleet.Timeout)
	defer cancel()
	var wanted atomic.Bool
	var all sync.WaitGroup
	for _, metric := range in.Object.Spec.Metrics {
		if metric.Type != autoscalingv2.ObjectMetricSourceType && metric.Type != autoscalingv2.ExternalMetricSourceType {
			continue
		}
		all.Go(func() {
			answer := m.Ask.Ask(ctx, hubmetrics.Question{Namespace: in.Object.Namespace, Metric: metric, Clusters: clusters})
			for _, value := range answer.Values {
				if answer.Err == nil && value > 0 {
					wanted.Store(true)
				}
			}
		})
	}
	all.Wait()
	return wanted.Load()
}

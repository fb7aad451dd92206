// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"sync"
	"sync/atomic"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/hubmetrics"
)

// wants says whether a metric calls for replicas where none run: no autoscaler of a cluster looks then. Metrics of Pods
// have nothing to say.
func (r *Reconciler) wants(ctx context.Context, in *situation) bool {
	if !in.object.Spec.ScalingToZero || in.native() || *in.object.Spec.MinReplicas > 0 {
		return false
	}
	var clusters []string
	for i := range in.sites {
		s := &in.sites[i]
		if s.presence == assignment.Leaving {
			continue
		}
		if s.current() > 0 {
			return false
		}
		clusters = append(clusters, s.facts.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	var wanted atomic.Bool
	var all sync.WaitGroup
	for _, metric := range in.object.Spec.Metrics {
		if metric.Type != autoscalingv2.ObjectMetricSourceType && metric.Type != autoscalingv2.ExternalMetricSourceType {
			continue
		}
		all.Go(func() {
			answer := r.Ask.Ask(ctx, hubmetrics.Question{Namespace: in.object.Namespace, Metric: metric, Clusters: clusters})
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

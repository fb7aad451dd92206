// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"math"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Capacity estimates what clusters can host.
type Capacity interface {
	// Additional is how many more replicas of a workload the cluster has room for; false if that is not known.
	Additional(ctx context.Context, cluster, namespace string, workload autoscalingv2.CrossVersionObjectReference) (int32, bool)
}

// byCapacity are the divisions that ask for it.
var byCapacity = []v1alpha1.ReplicaDistributionType{
	v1alpha1.DistributionDynamicWeighted, v1alpha1.DistributionAggregated, v1alpha1.DistributionPrioritized,
}

// lookAtCapacity notes how many replicas each cluster can host in all, where that matters: for the division, or to see
// whether a full cluster has room again.
func (r *Reconciler) lookAtCapacity(ctx context.Context, in *situation) {
	d := in.object.Spec.ReplicaDistribution
	if d == nil || r.Capacity == nil {
		return
	}
	always := slices.Contains(byCapacity, d.Type)
	together(in.parts, func(p *part) {
		if !p.writable() || !always && p.before.State != v1alpha1.ClusterSaturated {
			return
		}
		room, known := r.Capacity.Additional(ctx, p.facts.Name, in.object.Namespace, in.object.Spec.ScaleTargetRef)
		if known {
			p.capacity = new(int32(min(int64(p.hosted())+int64(room), math.MaxInt32)))
		}
	})
}

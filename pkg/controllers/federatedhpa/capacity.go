// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"math"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// byCapacity are the divisions that ask for it.
var byCapacity = []v1alpha1.ReplicaDistributionType{
	v1alpha1.DistributionDynamicWeighted, v1alpha1.DistributionAggregated, v1alpha1.DistributionPrioritized,
}

// lookAtCapacity notes how many replicas each cluster can host in all, where that matters: for the division, or to see
// whether a full cluster has room again.
func (r *Reconciler) lookAtCapacity(ctx context.Context, in *situation) {
	d := in.object.Spec.ReplicaDistribution
	if d == nil {
		return
	}
	always := slices.Contains(byCapacity, d.Type)
	together(in.parts, func(p *part) {
		if !p.writable() || !always && p.before.State != v1alpha1.ClusterSaturated {
			return
		}
		room, known := p.cluster.Additional(ctx, in.object.Namespace, in.object.Spec.ScaleTargetRef, nil)
		if known {
			room = max(0, room-p.unborn())
			p.capacity = new(int32(min(int64(p.hosted())+int64(room), math.MaxInt32)))
		}
	})
}

// unborn is how many replicas have no Pod yet: the room that they will take still seems free.
func (p *part) unborn() int32 {
	return max(0, *p.assigned-int32(min(len(p.listing.Pods), math.MaxInt32)))
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"time"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Usual is what holds of scaling down where spec.behavior does not say.
type Usual struct {
	Window time.Duration
	// Tolerance is the part of its target that the load may be away from it.
	Tolerance float64
}

// Follow has the snapshot be what the spec, which is of distributed mode, says of it. What it says of clusters is not part of that: see
// [Preferences].
func (s *Snapshot) Follow(spec *v1alpha1.FederatedHPASpec, usual Usual) {
	a := spec.FederatedHPAAssignment
	s.Policy, s.Order, s.ScaleDownOrder = Policy(a.FederatedHPAAssignmentType), a.DistributionOrder, a.ScaleDownOrder
	s.Rebalance = a.RebalanceOrDefault()
	s.Min, s.Max = ptr.Deref(spec.MinReplicas, 1), spec.MaxReplicas
	s.ScalingToZero = ptr.Deref(spec.ScalingToZero, false) && spec.ScalingToZeroMode != v1alpha1.ScalingToZeroNative
	s.Delay = time.Duration(ptr.Deref(spec.AutoscaleMultiClusterDelay, 0)) * time.Second
	tolerance := usual.Tolerance
	s.Window = usual.Window
	if b := spec.Behavior; b != nil && b.ScaleDown != nil {
		if seconds := b.ScaleDown.StabilizationWindowSeconds; seconds != nil {
			s.Window = time.Duration(*seconds) * time.Second
		}
		if b.ScaleDown.Tolerance != nil {
			tolerance = b.ScaleDown.Tolerance.AsApproximateFloat64()
		}
	}
	s.Tolerance = int64(math.Round(1000 * tolerance))
}

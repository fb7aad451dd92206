// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	maxDelaySeconds    = 86400
	minIntervalSeconds = 15
	maxWeight          = 1000
	maxPreferences     = 1000
)

// fleetFaults judges what a FederatedHPA has beyond a HorizontalPodAutoscaler.
func fleetFaults(spec *v1alpha1.FederatedHPASpec, path *field.Path) field.ErrorList {
	native := ptr.Deref(spec.ScalingToZero, false) && spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative
	return slices.Concat(
		orNone(spec.Mode, path.Child("mode"), ruleEnum, v1alpha1.ModeActive, v1alpha1.ModeObserve, v1alpha1.ModePaused),
		affinityFaults(spec.ClusterAffinity, path.Child("clusterAffinity")),
		tolerationsFaults(spec.ClusterTolerations, path.Child("clusterTolerations")),
		within(spec.AutoscaleMultiClusterDelay, 0, maxDelaySeconds, path.Child("autoscaleMultiClusterDelay"), ruleDelay),
		orNone(spec.ScalingToZeroMode, path.Child("scalingToZeroMode"), ruleEnum, v1alpha1.ScalingToZeroController,
			v1alpha1.ScalingToZeroNative),
		orNone(spec.DeletionPolicy, path.Child("deletionPolicy"), ruleEnum, v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyOrphan),
		when(native && !hasZeroMetric(spec.Metrics), field.Forbidden(path.Child("scalingToZeroMode"),
			"Native needs an Object or External metric: add one, or write Controller").WithOrigin(ruleNativeNeedsMetric)),
		when(spec.FederatedHPAAssignment != nil && spec.ReplicaDistribution != nil, field.Forbidden(path.Child("replicaDistribution"),
			"may not be set together with federatedHPAAssignment: remove replicaDistribution for distributed mode, or federatedHPAAssignment for "+
				"central mode").WithOrigin(ruleMode)),
		assignmentFaults(spec, path),
		distributionFaults(spec.ReplicaDistribution, spec.MaxReplicas, path.Child("replicaDistribution")),
	)
}

func assignmentFaults(spec *v1alpha1.FederatedHPASpec, path *field.Path) field.ErrorList {
	a, at := spec.FederatedHPAAssignment, path.Child("federatedHPAAssignment")
	if a == nil {
		return nil
	}
	return slices.Concat(
		distributedFaults(spec.Metrics, path.Child("metrics")),
		orNone(a.FederatedHPAAssignmentType, at.Child("federatedHPAAssignmentType"), ruleEnum, v1alpha1.AssignmentDuplicated,
			v1alpha1.AssignmentStaticWeighted, v1alpha1.AssignmentDynamicWeighted, v1alpha1.AssignmentAggregated, v1alpha1.AssignmentPrioritized),
		orNone(a.DistributionOrder, at.Child("distributionOrder"), ruleEnum, v1alpha1.DistributionMaxFirst, v1alpha1.DistributionMinFirst),
		orNone(a.ScaleDownOrder, at.Child("scaleDownOrder"), ruleEnum, v1alpha1.ScaleDownStrict, v1alpha1.ScaleDownBestEffort),
		rebalanceFaults(a.Rebalance, at.Child("rebalance")),
		preferencesFaults(a.ClusterAutoscalingPreference, spec.MaxReplicas, "maxReplicas", at.Child("clusterAutoscalingPreference")),
	)
}

func rebalanceFaults(r *v1alpha1.Rebalance, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return slices.Concat(
		orNone(r.Strategy, path.Child("strategy"), ruleEnum, v1alpha1.RebalanceNone, v1alpha1.RebalanceCapacity, v1alpha1.RebalanceDemand),
		within(r.IntervalSeconds, minIntervalSeconds, maxDelaySeconds, path.Child("intervalSeconds"), ruleRebalance),
		within(r.MinUtilizationPercent, 0, 100, path.Child("minUtilizationPercent"), ruleRebalance),
	)
}

func distributionFaults(d *v1alpha1.ReplicaDistribution, maxReplicas int32, path *field.Path) field.ErrorList {
	if d == nil {
		return nil
	}
	faults := orNone(d.Type, path.Child("type"), ruleEnum, v1alpha1.DistributionStaticWeighted, v1alpha1.DistributionDynamicWeighted,
		v1alpha1.DistributionLoadWeighted, v1alpha1.DistributionAggregated, v1alpha1.DistributionPrioritized)
	return append(faults,
		preferencesFaults(d.ClusterAutoscalingPreference, maxReplicas, "maxReplicas", path.Child("clusterAutoscalingPreference"))...)
}

// preferencesFaults judges preferences beside the greatest number of replicas to divide, which stands in the field of that name.
func preferencesFaults(
	preferences []v1alpha1.TargetClusterAutoscalingPreference, most int32, name string, path *field.Path,
) field.ErrorList {
	faults := append(atMost(len(preferences), maxPreferences, path), each(preferences, path, preferenceFaults)...)
	var sum int64
	for _, p := range preferences {
		sum += int64(max(0, ptr.Deref(p.AutoscalingMinThreshold, 0)))
	}
	if sum > int64(most) {
		fault := fmt.Sprintf("the sum of autoscalingMinThreshold must be less than or equal to `%s`, which is %d", name, most)
		faults = append(faults, field.Invalid(path, sum, fault).WithOrigin(ruleThresholdSum))
	}
	return faults
}

func preferenceFaults(p v1alpha1.TargetClusterAutoscalingPreference, path *field.Path) field.ErrorList {
	least, most := p.AutoscalingMinThreshold, p.AutoscalingMaxThreshold
	return slices.Concat(
		affinityFaults(p.TargetCluster, path.Child("targetCluster")),
		when(p.TargetCluster == nil, field.Required(path.Child("targetCluster"),
			"must select clusters; {} selects all").WithOrigin(rulePreferenceTarget)),
		within(p.StaticWeight, 0, maxWeight, path.Child("staticWeight"), ruleWeight),
		within(least, 0, math.MaxInt32, path.Child("autoscalingMinThreshold"), ruleThreshold),
		within(most, 0, math.MaxInt32, path.Child("autoscalingMaxThreshold"), ruleThreshold),
		inOrder(least, most, path.Child("autoscalingMaxThreshold"), "autoscalingMinThreshold", ruleThresholdOrder),
	)
}

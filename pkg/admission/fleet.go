// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/validation/field"

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
	faults := orNone(spec.Mode, path.Child("mode"), ruleEnum, v1alpha1.ModeActive, v1alpha1.ModeObserve, v1alpha1.ModePaused)
	faults = append(faults, affinityFaults(spec.ClusterAffinity, path.Child("clusterAffinity"))...)
	faults = append(faults, within(spec.AutoscaleMultiClusterDelay, 0, maxDelaySeconds, path.Child("autoscaleMultiClusterDelay"),
		ruleDelay)...)
	faults = append(faults, orNone(spec.ScalingToZeroMode, path.Child("scalingToZeroMode"), ruleEnum, v1alpha1.ScalingToZeroController,
		v1alpha1.ScalingToZeroNative)...)
	faults = append(faults, orNone(spec.DeletionPolicy, path.Child("deletionPolicy"), ruleEnum, v1alpha1.DeletionPolicyDelete,
		v1alpha1.DeletionPolicyOrphan)...)
	if spec.ScalingToZero && spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative && !hasZeroMetric(spec.Metrics) {
		faults = append(faults, field.Forbidden(path.Child("scalingToZeroMode"),
			"Native needs an Object or External metric: add one, or write Controller").WithOrigin(ruleNativeNeedsMetric))
	}
	if spec.FederatedHPAAssignment != nil && spec.ReplicaDistribution != nil {
		faults = append(faults, field.Forbidden(path.Child("replicaDistribution"), "may not be set together with federatedHPAAssignment: "+
			"remove replicaDistribution for distributed mode, or federatedHPAAssignment for central mode").WithOrigin(ruleMode))
	}
	if spec.FederatedHPAAssignment != nil {
		faults = append(faults, distributedFaults(spec.Metrics, path.Child("metrics"))...)
	}
	faults = append(faults, assignmentFaults(spec, path.Child("federatedHPAAssignment"))...)
	return append(faults, distributionFaults(spec, path.Child("replicaDistribution"))...)
}

func assignmentFaults(spec *v1alpha1.FederatedHPASpec, path *field.Path) field.ErrorList {
	a := spec.FederatedHPAAssignment
	if a == nil {
		return nil
	}
	faults := orNone(a.FederatedHPAAssignmentType, path.Child("federatedHPAAssignmentType"), ruleEnum, v1alpha1.AssignmentDuplicated,
		v1alpha1.AssignmentStaticWeighted, v1alpha1.AssignmentDynamicWeighted, v1alpha1.AssignmentAggregated, v1alpha1.AssignmentPrioritized)
	faults = append(faults, orNone(a.DistributionOrder, path.Child("distributionOrder"), ruleEnum, v1alpha1.DistributionMaxFirst,
		v1alpha1.DistributionMinFirst)...)
	faults = append(faults, orNone(a.ScaleDownOrder, path.Child("scaleDownOrder"), ruleEnum, v1alpha1.ScaleDownStrict,
		v1alpha1.ScaleDownBestEffort)...)
	faults = append(faults, rebalanceFaults(a.Rebalance, path.Child("rebalance"))...)
	return append(faults, preferencesFaults(a.ClusterAutoscalingPreference, spec.MaxReplicas, path.Child("clusterAutoscalingPreference"))...)
}

func rebalanceFaults(r *v1alpha1.Rebalance, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	faults := orNone(r.Strategy, path.Child("strategy"), ruleEnum, v1alpha1.RebalanceNone, v1alpha1.RebalanceCapacity,
		v1alpha1.RebalanceDemand)
	faults = append(faults, within(r.IntervalSeconds, minIntervalSeconds, maxDelaySeconds, path.Child("intervalSeconds"), ruleRebalance)...)
	return append(faults, within(r.MinUtilizationPercent, 0, 100, path.Child("minUtilizationPercent"), ruleRebalance)...)
}

func distributionFaults(spec *v1alpha1.FederatedHPASpec, path *field.Path) field.ErrorList {
	d := spec.ReplicaDistribution
	if d == nil {
		return nil
	}
	faults := orNone(d.Type, path.Child("type"), ruleEnum, v1alpha1.DistributionStaticWeighted, v1alpha1.DistributionDynamicWeighted,
		v1alpha1.DistributionLoadWeighted, v1alpha1.DistributionAggregated, v1alpha1.DistributionPrioritized)
	return append(faults, preferencesFaults(d.ClusterAutoscalingPreference, spec.MaxReplicas, path.Child("clusterAutoscalingPreference"))...)
}

func preferencesFaults(preferences []v1alpha1.TargetClusterAutoscalingPreference, maxReplicas int32, path *field.Path) field.ErrorList {
	faults := atMost(len(preferences), maxPreferences, path)
	var sum int64
	for i, p := range preferences {
		faults = append(faults, preferenceFaults(p, path.Index(i))...)
		if least := p.AutoscalingMinThreshold; least != nil && *least > 0 {
			sum += int64(*least)
		}
	}
	if sum > int64(maxReplicas) {
		fault := fmt.Sprintf("the sum of autoscalingMinThreshold must be less than or equal to `maxReplicas`, which is %d", maxReplicas)
		faults = append(faults, field.Invalid(path, sum, fault).WithOrigin(ruleThresholdSum))
	}
	return faults
}

func preferenceFaults(p v1alpha1.TargetClusterAutoscalingPreference, path *field.Path) field.ErrorList {
	faults := affinityFaults(p.TargetCluster, path.Child("targetCluster"))
	if p.TargetCluster == nil {
		faults = append(faults, field.Required(path.Child("targetCluster"),
			"must select clusters; {} selects all").WithOrigin(rulePreferenceTarget))
	}
	faults = append(faults, within(p.StaticWeight, 0, maxWeight, path.Child("staticWeight"), ruleWeight)...)
	least, most := p.AutoscalingMinThreshold, p.AutoscalingMaxThreshold
	faults = append(faults, within(least, 0, math.MaxInt32, path.Child("autoscalingMinThreshold"), ruleThreshold)...)
	faults = append(faults, within(most, 0, math.MaxInt32, path.Child("autoscalingMaxThreshold"), ruleThreshold)...)
	if least != nil && most != nil && *least > *most {
		fault := fmt.Sprintf("must be greater than or equal to `autoscalingMinThreshold`, which is %d", *least)
		faults = append(faults, field.Invalid(path.Child("autoscalingMaxThreshold"), *most, fault).WithOrigin(ruleThresholdOrder))
	}
	return faults
}

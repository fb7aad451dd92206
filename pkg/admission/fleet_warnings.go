// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// fleetWarnings tells of fields that have no effect beside the others. What
// merely repeats a default is ignored: it may have been filled in, and stay when
// the mode changes.
func fleetWarnings(spec *v1alpha1.FederatedHPASpec, path *field.Path) []string {
	warnings := slices.Concat(
		affinityWarnings(spec.ClusterAffinity, path.Child("clusterAffinity")),
		centralWarnings(spec, path),
		unread(spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative && !ptr.Deref(spec.ScalingToZero, false), path.Child("scalingToZeroMode"),
			"without scalingToZero: true"),
	)
	if a := spec.FederatedHPAAssignment; a != nil {
		warnings = slices.Concat(warnings, assignmentWarnings(spec, path.Child("federatedHPAAssignment")),
			preferencesWarnings(a.ClusterAutoscalingPreference, string(cmp.Or(a.FederatedHPAAssignmentType, v1alpha1.AssignmentDuplicated)),
				path.Child("federatedHPAAssignment", "clusterAutoscalingPreference")))
	}
	if d := spec.ReplicaDistribution; d != nil {
		warnings = append(warnings, preferencesWarnings(d.ClusterAutoscalingPreference,
			string(cmp.Or(d.Type, v1alpha1.DistributionStaticWeighted)), path.Child("replicaDistribution", "clusterAutoscalingPreference"))...)
	}
	return warnings
}

// centralWarnings is for what only the other mode reads.
func centralWarnings(spec *v1alpha1.FederatedHPASpec, path *field.Path) []string {
	if spec.FederatedHPAAssignment != nil {
		return nil
	}
	const why = "without federatedHPAAssignment"
	return slices.Concat(
		unread(ptr.Deref(spec.ScalingToZero, false), path.Child("scalingToZero"), why),
		unread(spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan, path.Child("deletionPolicy"), why),
		unread(ownDelay(spec.AutoscaleMultiClusterDelay) && spec.ReplicaDistribution == nil, path.Child("autoscaleMultiClusterDelay"),
			why+" or replicaDistribution"),
	)
}

// ownDelay reports whether a delay is not the default.
func ownDelay(seconds *int32) bool {
	return ptr.Deref(seconds, v1alpha1.DefaultMultiClusterDelaySeconds) != v1alpha1.DefaultMultiClusterDelaySeconds
}

func assignmentWarnings(spec *v1alpha1.FederatedHPASpec, path *field.Path) []string {
	a, r := spec.FederatedHPAAssignment, ptr.Deref(spec.FederatedHPAAssignment.Rebalance, v1alpha1.Rebalance{})
	kind, minFirst := cmp.Or(a.FederatedHPAAssignmentType, v1alpha1.AssignmentDuplicated), a.DistributionOrder == v1alpha1.DistributionMinFirst
	duplicated, with := kind == v1alpha1.AssignmentDuplicated, "with type "+string(kind)
	var single []string
	if minFirst && !duplicated && ptr.Deref(spec.MinReplicas, 1) <= 1 {
		single = []string{fmt.Sprintf("%s: with minReplicas 1, MinFirst uses a single cluster: write a higher minReplicas, or MaxFirst",
			path.Child("distributionOrder"))}
	}
	return slices.Concat(
		unread(duplicated && ptr.Deref(spec.ScalingToZero, false), field.NewPath("spec", "scalingToZero"), with),
		unread(minFirst && duplicated, path.Child("distributionOrder"), with),
		single,
		unread(a.ScaleDownOrder == v1alpha1.ScaleDownBestEffort && kind != v1alpha1.AssignmentPrioritized, path.Child("scaleDownOrder"), with),
		unread(kind == v1alpha1.AssignmentStaticWeighted && r.Strategy == v1alpha1.RebalanceCapacity ||
			duplicated && r.Strategy != v1alpha1.RebalanceNone && r.Strategy != "", path.Child("rebalance", "strategy"), with),
	)
}

// preferencesWarnings knows which types read which preference; their names are
// the same in both modes.
func preferencesWarnings(preferences []v1alpha1.TargetClusterAutoscalingPreference, kind string, path *field.Path) []string {
	with := "with type " + kind
	if len(preferences) > 0 && kind == string(v1alpha1.AssignmentDuplicated) {
		return []string{noEffect(path, with)}
	}
	var warnings []string
	var weighed, ranked bool
	for i, p := range preferences {
		warnings = append(warnings, affinityWarnings(p.TargetCluster, path.Index(i).Child("targetCluster"))...)
		weighed, ranked = weighed || p.StaticWeight != nil, ranked || p.Priority != nil
	}
	return slices.Concat(
		warnings,
		unread(weighed && kind != string(v1alpha1.AssignmentStaticWeighted), path.Child("staticWeight"), with),
		unread(ranked && kind != string(v1alpha1.AssignmentPrioritized), path.Child("priority"), with),
	)
}

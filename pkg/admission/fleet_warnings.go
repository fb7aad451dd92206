// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// fleetWarnings tells of fields that have no effect beside the others. What
// merely repeats a default is ignored: it may have been filled in, and stay when
// the mode changes.
func fleetWarnings(spec *v1alpha1.FederatedHPASpec, path *field.Path) []string {
	warnings := affinityWarnings(spec.ClusterAffinity, path.Child("clusterAffinity"))
	warnings = append(warnings, centralWarnings(spec, path)...)
	if spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative && !spec.ScalingToZero {
		warnings = append(warnings, noEffect(path.Child("scalingToZeroMode"), "without scalingToZero: true"))
	}
	if a := spec.FederatedHPAAssignment; a != nil {
		warnings = append(warnings, assignmentWarnings(spec, path.Child("federatedHPAAssignment"))...)
		warnings = append(warnings, preferencesWarnings(a.ClusterAutoscalingPreference,
			string(cmp.Or(a.FederatedHPAAssignmentType, v1alpha1.AssignmentDuplicated)),
			path.Child("federatedHPAAssignment", "clusterAutoscalingPreference"))...)
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
	var warnings []string
	if spec.ScalingToZero {
		warnings = append(warnings, noEffect(path.Child("scalingToZero"), why))
	}
	if spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan {
		warnings = append(warnings, noEffect(path.Child("deletionPolicy"), why))
	}
	if d := spec.AutoscaleMultiClusterDelay; d != nil && *d != v1alpha1.DefaultMultiClusterDelaySeconds && spec.ReplicaDistribution == nil {
		warnings = append(warnings, noEffect(path.Child("autoscaleMultiClusterDelay"), why+" or replicaDistribution"))
	}
	return warnings
}

func assignmentWarnings(spec *v1alpha1.FederatedHPASpec, path *field.Path) []string {
	a := spec.FederatedHPAAssignment
	var warnings []string
	kind := cmp.Or(a.FederatedHPAAssignmentType, v1alpha1.AssignmentDuplicated)
	duplicated := kind == v1alpha1.AssignmentDuplicated
	with := "with type " + string(kind)
	if duplicated && spec.ScalingToZero {
		warnings = append(warnings, noEffect(field.NewPath("spec", "scalingToZero"), with))
	}
	if a.DistributionOrder == v1alpha1.DistributionMinFirst {
		switch {
		case duplicated:
			warnings = append(warnings, noEffect(path.Child("distributionOrder"), with))
		case spec.MinReplicas == nil || *spec.MinReplicas <= 1:
			warnings = append(warnings,
				fmt.Sprintf("%s: with minReplicas 1, MinFirst uses a single cluster: write a higher minReplicas, or MaxFirst",
					path.Child("distributionOrder")))
		}
	}
	if a.ScaleDownOrder == v1alpha1.ScaleDownBestEffort && kind != v1alpha1.AssignmentPrioritized {
		warnings = append(warnings, noEffect(path.Child("scaleDownOrder"), with))
	}
	if r := a.Rebalance; r != nil {
		static := kind == v1alpha1.AssignmentStaticWeighted && r.Strategy == v1alpha1.RebalanceCapacity
		if static || duplicated && r.Strategy != v1alpha1.RebalanceNone && r.Strategy != "" {
			warnings = append(warnings, noEffect(path.Child("rebalance", "strategy"), with))
		}
	}
	return warnings
}

// preferencesWarnings knows which types read which preference; their names are
// the same in both modes.
func preferencesWarnings(preferences []v1alpha1.TargetClusterAutoscalingPreference, kind string, path *field.Path) []string {
	if len(preferences) > 0 && kind == string(v1alpha1.AssignmentDuplicated) {
		return []string{noEffect(path, "with type "+kind)}
	}
	var warnings []string
	var weighed, ranked bool
	for i, p := range preferences {
		warnings = append(warnings, affinityWarnings(p.TargetCluster, path.Index(i).Child("targetCluster"))...)
		weighed, ranked = weighed || p.StaticWeight != nil, ranked || p.Priority != nil
	}
	if weighed && kind != string(v1alpha1.AssignmentStaticWeighted) {
		warnings = append(warnings, noEffect(path.Child("staticWeight"), "with type "+kind))
	}
	if ranked && kind != string(v1alpha1.AssignmentPrioritized) {
		warnings = append(warnings, noEffect(path.Child("priority"), "with type "+kind))
	}
	return warnings
}

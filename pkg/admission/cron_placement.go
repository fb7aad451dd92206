// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// cronPlacementFaults judges which clusters take part in the runs of rules, and how, as for a FederatedHPA.
func cronPlacementFaults(spec *v1alpha1.CronFederatedHPASpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		affinityFaults(spec.ClusterAffinity, path.Child("clusterAffinity")),
		tolerationsFaults(spec.ClusterTolerations, path.Child("clusterTolerations")),
		cronDistributionFaults(spec, path.Child("replicaDistribution")),
	)
}

// cronDistributionFaults refuses besides what takes a load, or time between the runs.
func cronDistributionFaults(spec *v1alpha1.CronFederatedHPASpec, path *field.Path) field.ErrorList {
	d := spec.ReplicaDistribution
	if d == nil {
		return nil
	}
	var most int32
	for _, rule := range spec.Rules {
		most = max(most, ptr.Deref(rule.TargetReplicas, 0))
	}
	return slices.Concat(
		orNone(d.Type, path.Child("type"), ruleEnum, v1alpha1.DistributionStaticWeighted, v1alpha1.DistributionDynamicWeighted,
			v1alpha1.DistributionAggregated, v1alpha1.DistributionPrioritized),
		when(ptr.Deref(d.Rebalance, false), field.Forbidden(path.Child("rebalance"),
			"may not be true, because nothing moves between the runs of rules: remove it").WithOrigin(ruleCronForbidden)),
		preferencesFaults(d.ClusterAutoscalingPreference, most, "targetReplicas", path.Child("clusterAutoscalingPreference")),
	)
}

// cronPlacementWarnings tells of fields that have no effect.
func cronPlacementWarnings(spec *v1alpha1.CronFederatedHPASpec, path *field.Path) []string {
	const why = "where the target is an autoscaler, which has its own"
	if meansAutoscaler(spec.ScaleTargetRef) {
		return slices.Concat(
			unread(spec.ClusterAffinity != nil, path.Child("clusterAffinity"), why),
			unread(len(spec.ClusterTolerations) > 0, path.Child("clusterTolerations"), why),
			unread(spec.ReplicaDistribution != nil, path.Child("replicaDistribution"), why),
		)
	}
	warnings := affinityWarnings(spec.ClusterAffinity, path.Child("clusterAffinity"))
	if d := spec.ReplicaDistribution; d != nil {
		warnings = append(warnings, preferencesWarnings(d.ClusterAutoscalingPreference,
			string(cmp.Or(d.Type, v1alpha1.DistributionStaticWeighted)), path.Child("replicaDistribution", "clusterAutoscalingPreference"))...)
	}
	return warnings
}

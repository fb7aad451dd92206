// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	maxClusterNames      = 1000
	maxFieldRequirements = 32
	maxFieldValues       = 100
	maxFieldValue        = 253
)

func affinityFaults(affinity *v1alpha1.ClusterAffinity, path *field.Path) field.ErrorList {
	if affinity == nil {
		return nil
	}
	return slices.Concat(
		selectorFaults(affinity.LabelSelector, path.Child("labelSelector"), ruleClusterSelector),
		fieldSelectorFaults(affinity.FieldSelector, path.Child("fieldSelector", "matchExpressions")),
		clusterNamesFaults(affinity.ClusterNames, path.Child("clusterNames")),
		clusterNamesFaults(affinity.ExcludeClusters, path.Child("exclude")),
	)
}

// clusterNamesFaults refuses what cannot be the name of a cluster.
func clusterNamesFaults(names []string, path *field.Path) field.ErrorList {
	faults := atMost(len(names), maxClusterNames, path)
	seen := map[string]bool{}
	for i, name := range names {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			faults = append(faults, field.Invalid(path.Index(i), name, "is not the name of a cluster: "+wrong[0]).WithOrigin(ruleClusterName))
		}
		if seen[name] {
			faults = append(faults, field.Duplicate(path.Index(i), name).WithOrigin(ruleClusterName))
		}
		seen[name] = true
	}
	return faults
}

func fieldSelectorFaults(selector *v1alpha1.FieldSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	return append(atMost(len(selector.MatchExpressions), maxFieldRequirements, path),
		each(selector.MatchExpressions, path, requirementFaults)...)
}

func requirementFaults(r v1alpha1.FieldSelectorRequirement, path *field.Path) field.ErrorList {
	values := path.Child("values")
	return slices.Concat(
		oneOf(r.Key, path.Child("key"), ruleClusterField, v1alpha1.FieldProvider, v1alpha1.FieldRegion, v1alpha1.FieldZone),
		oneOf(r.Operator, path.Child("operator"), ruleClusterField, v1alpha1.FieldSelectorIn, v1alpha1.FieldSelectorNotIn),
		when(len(r.Values) == 0, field.Required(values, "must have at least one value").WithOrigin(ruleClusterField)),
		atMost(len(r.Values), maxFieldValues, values),
		each(r.Values, values, func(value string, at *field.Path) field.ErrorList { return noLonger(value, maxFieldValue, at) }),
	)
}

// affinityWarnings tells of clusters that are named and excluded at once.
func affinityWarnings(affinity *v1alpha1.ClusterAffinity, path *field.Path) []string {
	if affinity == nil {
		return nil
	}
	var warnings []string
	for i, name := range affinity.ClusterNames {
		if slices.Contains(affinity.ExcludeClusters, name) {
			warnings = append(warnings, fmt.Sprintf("%s: %s is not selected, because it is in exclude too", path.Child("clusterNames").Index(i),
				name))
		}
	}
	return warnings
}

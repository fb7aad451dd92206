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
	faults := selectorFaults(affinity.LabelSelector, path.Child("labelSelector"), ruleClusterSelector)
	faults = append(faults, fieldSelectorFaults(affinity.FieldSelector, path.Child("fieldSelector", "matchExpressions"))...)
	faults = append(faults, clusterNamesFaults(affinity.ClusterNames, path.Child("clusterNames"))...)
	return append(faults, clusterNamesFaults(affinity.ExcludeClusters, path.Child("exclude"))...)
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
	faults := atMost(len(selector.MatchExpressions), maxFieldRequirements, path)
	for i, r := range selector.MatchExpressions {
		at := path.Index(i)
		faults = append(faults, oneOf(r.Key, at.Child("key"), ruleClusterField, v1alpha1.FieldProvider, v1alpha1.FieldRegion,
			v1alpha1.FieldZone)...)
		faults = append(faults, oneOf(r.Operator, at.Child("operator"), ruleClusterField, v1alpha1.FieldSelectorIn,
			v1alpha1.FieldSelectorNotIn)...)
		if len(r.Values) == 0 {
			faults = append(faults, field.Required(at.Child("values"), "must have at least one value").WithOrigin(ruleClusterField))
		}
		faults = append(faults, atMost(len(r.Values), maxFieldValues, at.Child("values"))...)
		for j, value := range r.Values {
			faults = append(faults, noLonger(value, maxFieldValue, at.Child("values").Index(j))...)
		}
	}
	return faults
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

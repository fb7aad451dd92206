// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"k8s.io/utils/ptr"
)

// Preference is what the entries of a clusterAutoscalingPreference say of one cluster.
type Preference struct {
	Weight   int64 // no unit; 0 is no share
	Priority int32 // no unit; the highest is filled first and emptied last
	Floor    int32 // replicas that come before the rest is split; never above Ceiling
	Ceiling  int32 // replicas never exceeded; math.MaxInt32 if nobody set a bound
}

// Preferences returns what the entries say of each cluster: the highest weight, priority and thresholds of those that
// select it. A cluster that is not in the result is excluded: with StaticWeighted and Prioritized that is one which no
// entry selects, provided there are entries. The error is for an entry whose targetCluster cannot be read.
func Preferences(policy Policy, entries []v1alpha1.TargetClusterAutoscalingPreference, clusters []ClusterFacts) (map[string]Preference,
	error) {
	selectors := make([]selector, len(entries))
	for i, entry := range entries {
		s, err := read(entry.TargetCluster)
		if err != nil {
			return nil, fmt.Errorf("reading clusterAutoscalingPreference[%d].targetCluster: %w", i, err)
		}
		selectors[i] = s
	}
	preferences := make(map[string]Preference, len(clusters))
	for _, cluster := range clusters {
		var own []v1alpha1.TargetClusterAutoscalingPreference
		for i, s := range selectors {
			if s.matches(cluster) {
				own = append(own, entries[i])
			}
		}
		if len(own) > 0 || len(entries) == 0 || !policy.selective() {
			preferences[cluster.Name] = highest(own)
		}
	}
	return preferences, nil
}

// highest joins the entries that select one cluster. An entry that is silent on something does not count for it.
func highest(entries []v1alpha1.TargetClusterAutoscalingPreference) Preference {
	var weight, priority, floor, ceiling *int32
	for _, entry := range entries {
		weight = higher(weight, entry.StaticWeight)
		priority = higher(priority, entry.Priority)
		floor = higher(floor, entry.AutoscalingMinThreshold)
		ceiling = higher(ceiling, entry.AutoscalingMaxThreshold)
	}
	p := Preference{Weight: int64(ptr.Deref(weight, 0)), Priority: ptr.Deref(priority, 0), Ceiling: ptr.Deref(ceiling, math.MaxInt32)}
	p.Floor = min(ptr.Deref(floor, 0), p.Ceiling)
	return p
}

func higher(a, b *int32) *int32 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

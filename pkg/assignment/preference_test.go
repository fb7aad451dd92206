// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestPreferences(t *testing.T) {
	type entry = v1alpha1.TargetClusterAutoscalingPreference
	type result = map[string]Preference
	of := func(names ...string) *v1alpha1.ClusterAffinity { return &v1alpha1.ClusterAffinity{ClusterNames: names} }
	const none = maxReplicas
	indifferent := Preference{Ceiling: none}
	tests := map[string]struct {
		policy  Policy
		entries []entry
		want    result
	}{
		"nobody says anything": {StaticWeighted, nil, result{"east": indifferent, "west": indifferent}},
		"one is named, the other is excluded": {StaticWeighted, []entry{{TargetCluster: of("east"), StaticWeight: new(int32(2))}},
			result{"east": {Weight: 2, Ceiling: none}}},
		"and the same with priorities": {Prioritized, []entry{{TargetCluster: of("west"), Priority: new(int32(-2))}},
			result{"west": {Priority: -2, Ceiling: none}}},
		"other policies exclude nobody": {Aggregated, []entry{{TargetCluster: of("east"), AutoscalingMaxThreshold: new(int32(2))}},
			result{"east": {Ceiling: 2}, "west": indifferent}},
		"the highest of each holds": {Prioritized, []entry{
			{TargetCluster: of("east"), StaticWeight: new(int32(5)), Priority: new(int32(1)), AutoscalingMinThreshold: new(int32(4)),
				AutoscalingMaxThreshold: new(int32(8))},
			{TargetCluster: &v1alpha1.ClusterAffinity{}, StaticWeight: new(int32(3)), Priority: new(int32(7)),
				AutoscalingMinThreshold: new(int32(2)), AutoscalingMaxThreshold: new(int32(9))}},
			result{"east": {Weight: 5, Priority: 7, Floor: 4, Ceiling: 9}, "west": {Weight: 3, Priority: 7, Floor: 2, Ceiling: 9}}},
		"an entry that is silent does not count": {DynamicWeighted, []entry{
			{TargetCluster: of("east", "west"), Priority: new(int32(-3)), AutoscalingMaxThreshold: new(int32(8))}, {TargetCluster: of("east")}},
			result{"east": {Priority: -3, Ceiling: 8}, "west": {Priority: -3, Ceiling: 8}}},
		"a floor is never above the ceiling": {LoadWeighted, []entry{
			{TargetCluster: of("east"), AutoscalingMinThreshold: new(int32(8))},
			{TargetCluster: of("east"), AutoscalingMaxThreshold: new(int32(3))}},
			result{"east": {Floor: 3, Ceiling: 3}, "west": indifferent}},
		"a ceiling of zero": {StaticWeighted, []entry{{TargetCluster: nil, StaticWeight: new(int32(0)), AutoscalingMaxThreshold: new(int32(0))}},
			result{"east": {}, "west": {}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Preferences(tc.policy, tc.entries, []ClusterFacts{{Name: "east"}, {Name: "west"}})
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "", tc.want, got)
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

func TestFirstSplit(t *testing.T) {
	three := map[string]int32{"east": 1, "north": 4, "west": 2}
	tests := map[string]struct {
		policy v1alpha1.FederatedHPAAssignmentType
		change []func(*v1alpha1.FederatedHPA)
		runs   map[string]int32
		room   map[string]int32
		writes []string
	}{
		"duplicated: each has it all": {"Duplicated", nil, three, nil,
			[]string{"east web 2-10", "north web 2-10", "west web 2-10"}},
		"weights": {"StaticWeighted", []func(*v1alpha1.FederatedHPA){weighs(map[string]int32{"east": 1, "north": 2, "west": 3})}, three, nil,
			[]string{"east web 1-1", "north web 1-4", "west web 1-5"}},
		"no weights are equal ones": {"StaticWeighted", nil, map[string]int32{"a": 1, "b": 1}, nil,
			[]string{"a web 1-5", "b web 1-5"}},
		"by capacity": {"DynamicWeighted", []func(*v1alpha1.FederatedHPA){bounds(8, 24)}, map[string]int32{"a": 1, "b": 1, "c": 1},
			map[string]int32{"a": 1, "b": 5, "c": 2}, []string{"a web 1-3", "b web 5-15", "c web 2-6"}},
		"into few": {"Aggregated", []func(*v1alpha1.FederatedHPA){bounds(8, 24)}, map[string]int32{"a": 1, "b": 1, "c": 1},
			map[string]int32{"a": 8, "b": 2, "c": 2}, []string{"a web 8-20", "b web 1-2", "c web 1-2"}},
		"by priority: who has none takes no part": {"Prioritized",
			[]func(*v1alpha1.FederatedHPA){bounds(8, 24), ranks(map[string]int32{"a": 2, "b": 1})}, map[string]int32{"a": 15, "b": 1, "c": 3},
			map[string]int32{"a": 20, "b": 1}, []string{"a web 8-23", "b web 1-1"}},
		"who runs nothing begins with its minimum": {"StaticWeighted", nil, map[string]int32{"a": 0, "b": 3}, nil,
			[]string{"a web 1-5", "a to 1", "b web 1-5"}},
		"who runs nothing stays so where that is allowed": {"StaticWeighted", []func(*v1alpha1.FederatedHPA){toZero},
			map[string]int32{"a": 0, "b": 3}, nil,
			[]string{"a web 1-5", "b web 1-5"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, tc.policy, tc.runs, tc.change...)
			for member, n := range tc.room {
				w.member(member).room = n
			}
			w.mustReconcile(1)
			same(t, "written", append([]string{"hub finalizers [fleetscale.io/member-autoscalers]", "hub status"}, tc.writes...), w.writes())
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package central

import (
	"errors"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// The explanation says what the clusters were told, but in mode Observe: moves wait on the way down, and writes may be refused.
func TestDividedTo(t *testing.T) {
	tests := map[string]struct {
		changes func(east, west *part) []change
		want    map[string]int32
	}{
		"all told": {func(east, west *part) []change {
			return []change{{part: east, from: 4, to: 6, gain: 2}, {part: west, from: 5, to: 2, gain: -3}}
		}, map[string]int32{"east": 6, "west": 2}},
		"a move waits": {func(_, west *part) []change {
			return []change{{part: west, from: 5, to: 4, gain: -1}}
		}, map[string]int32{"east": 4, "west": 4}},
		"one refuses": {func(east, west *part) []change {
			return []change{{part: east, from: 4, to: 6, gain: 2, err: errors.New("no")}, {part: west, from: 5, to: 4, gain: -1}}
		}, map[string]int32{"east": 4, "west": 4}},
		"some run twice while they move": {func(east, _ *part) []change {
			return []change{{part: east, from: 4, to: 6, gain: 1}}
		}, map[string]int32{"east": 5, "west": 5}},
		"all moves wait": {func(_, _ *part) []change { return nil }, map[string]int32{"east": 4, "west": 5}},
		"nobody is told": {nil, map[string]int32{"east": 6, "west": 2}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := outcome{}
			o.Object = &v1alpha1.FederatedHPA{}
			for name, replicas := range map[string]int32{"east": 4, "west": 5} {
				p := part{Cluster: &selection.Cluster{}, assigned: &replicas, state: v1alpha1.ClusterActive}
				p.Facts.Name = name
				o.parts = append(o.parts, p)
			}
			if o.parts[0].Facts.Name != "east" {
				o.parts[0], o.parts[1] = o.parts[1], o.parts[0]
			}
			o.division = &division{Distribution: assignment.Distribution{Replicas: map[string]int32{"east": 6, "west": 2}}}
			if tc.changes == nil {
				o.Object.Spec.Mode = v1alpha1.ModeObserve
			} else {
				o.changes = tc.changes(&o.parts[0], &o.parts[1])
			}
			got := map[string]int32{}
			for _, c := range o.dividedTo().Clusters {
				got[c.Name] = c.To
			}
			same(t, "what the clusters get", tc.want, got)
		})
	}
}

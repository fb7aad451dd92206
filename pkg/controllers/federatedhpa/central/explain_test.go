// SPDX-License-Identifier: Apache-2.0

package central

import (
	"errors"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// The explanation says what the clusters were told, but in mode Observe: moves wait on the way down, and writes may be refused.
func TestDividedTo(t *testing.T) {
	tests := map[string]struct {
		mode  v1alpha1.AutoscalingMode
		told  map[string]int32
		err   error // of east
		moved map[string]int32
		want  map[string]int32
	}{
		"all told":       {told: map[string]int32{"east": 6, "west": 2}, want: map[string]int32{"east": 6, "west": 2}},
		"a move waits":   {told: map[string]int32{"west": 4}, want: map[string]int32{"east": 4, "west": 4}},
		"one refuses":    {told: map[string]int32{"east": 6, "west": 4}, err: errors.New("no"), want: map[string]int32{"east": 4, "west": 4}},
		"all moves wait": {want: map[string]int32{"east": 4, "west": 5}},
		"nobody is told": {mode: v1alpha1.ModeObserve, want: map[string]int32{"east": 6, "west": 2}},
		"some run twice while they move": {told: map[string]int32{"east": 6}, moved: map[string]int32{"east": 1},
			want: map[string]int32{"east": 5, "west": 5}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := outcome{}
			o.Object = &v1alpha1.FederatedHPA{}
			o.Object.Spec.Mode = tc.mode
			for name, replicas := range map[string]int32{"east": 4, "west": 5} {
				p := partOf(name, replicas)
				if name == "east" {
					p.err = tc.err
				}
				if to, told := tc.told[name]; told {
					p.to = &to
				}
				o.parts = append(o.parts, *p)
			}
			o.division = &division{Distribution: assignment.Distribution{Replicas: map[string]int32{"east": 6, "west": 2}}, moved: tc.moved}
			got := map[string]int32{}
			for _, c := range o.dividedTo().Clusters {
				got[c.Name] = c.To
			}
			same(t, "what the clusters get", tc.want, got)
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Who splits by static weights what ran before deletes nothing for it: the shares come when they fit.
func TestAFirstSplitDeletesNothing(t *testing.T) {
	weights := func(a, b, c int32) Snapshot {
		return snapshot(StaticWeighted, 2, 10, site("a", 0, 0, a, fresh, weight(1)), site("b", 0, 0, b, fresh, weight(2)), site("c", 0, 0, c, fresh, weight(3))).change(changed)
	}
	tests := map[string]struct {
		s     Snapshot
		want  string
		keeps bool
	}{
		"what runs fits":                {weights(1, 4, 0), "BoundsSplit: a 1/1, b 1/4, c 1/5 run 1", false},
		"one runs more than its share":  {weights(5, 2, 0), "BoundsSplit: a 1/5, b 1/3, c 1/2 run 1", true},
		"all run somewhere else":        {weights(5, 5, 0), "BoundsSplit: a 1/5, b 2/5, c 0/0 Excluded", true},
		"more runs than the fleet may":  {weights(8, 5, 0), "BoundsSplit: a 1/1, b 1/4, c 1/5 run 1", false},
		"they had bounds, and others":   {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, weight(1)), site("b", 1, 5, 5, weight(3))).change(changed), "BoundsSplit: a 1/2, b 2/8", false},
		"it still does not fit":         {weights(5, 5, 0).change(keeping), "- a 1/5, b 1/5, c 0/0 Excluded", true},
		"it fits":                       {weights(1, 4, 0).change(keeping), "BoundsSplit: a 1/1, b 1/4, c 1/5 run 1", false},
		"a new spec does not wait":      {weights(5, 5, 0).change(keeping).change(changed), "BoundsSplit: a 1/1, b 1/4, c 1/5 run 1", false},
		"another policy has no use for": {weights(5, 5, 0).change(keeping).change(func(s *Snapshot) { s.Policy = Aggregated }), "- a 1/5, b 1/5, c 0/0 Excluded", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Next(tc.s)
			if diff := cmp.Diff(tc.want, told(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Memory.KeepsRunning != tc.keeps {
				t.Errorf("remembered: %v", got.Memory.KeepsRunning)
			}
		})
	}
}

// keeping is the look after a first split that kept what ran.
func keeping(s *Snapshot) {
	s.Changed, s.Memory.KeepsRunning = false, true
	for i, upper := range []int32{5, 5, 0} {
		s.Sites[i].Min, s.Sites[i].Max, s.Sites[i].State, s.Sites[i].Since = min(1, upper), upper, v1alpha1.ClusterActive, noon.Add(-time.Hour)
	}
}

// What is missing of the minimum, as a cluster that could not host its own gave it to nobody, is given out where it can run.
func TestMinimaAddUp(t *testing.T) {
	tests := map[string]struct {
		s    Snapshot
		want string
	}{
		"to who has room":       {snapshot(Aggregated, 5, 11, site("a", 2, 9, 3), site("b", 2, 2, 2, saturated(nil))), "BoundsTakenOver: a 3/9, b 2/2 Saturated"},
		"not to a full cluster": {snapshot(Aggregated, 5, 11, site("a", 2, 2, 2), site("b", 2, 9, 2, saturated(nil))), "- a 2/2, b 2/9 Saturated"},
		"nor where Pods wait":   {snapshot(Aggregated, 5, 11, site("a", 2, 2, 2), site("b", 2, 9, 2, pending(1, 1))), "- a 2/2, b 2/9"},
		"not for a moment":      {snapshot(Aggregated, 5, 11, site("a", 2, 6, 3), site("b", 2, 5, 2, silent(7))), "- a 2/6, b 2/5 Unreachable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.s.Rebalance.Strategy = v1alpha1.RebalanceNone
			if diff := cmp.Diff(tc.want, told(Next(tc.s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a person scaled to zero stays there when others come or go; what the hub took to zero begins again when it may not
// be there any more.
func TestSplitsWakeOnlyWhatIsTheirs(t *testing.T) {
	tests := map[string]struct {
		s    Snapshot
		want string
	}{
		"taken to zero by hand": {snapshot(StaticWeighted, 2, 9, site("a", 1, 3, 0), site("b", 1, 3, 1), site("c", 1, 3, 1, leaving)), "BoundsTakenOver: a 1/5, b 1/4, c 0/0 Excluded"},
		"and the spec changes":  {snapshot(StaticWeighted, 2, 9, site("a", 1, 5, 0), site("b", 1, 4, 1)).change(changed), "BoundsSplit: a 1/5, b 1/4"},
		"taken to zero by us":   {snapshot(StaticWeighted, 2, 9, site("a", 1, 5, 0, atZero), site("b", 1, 4, 1)).change(changed), "BoundsSplit: a 1/5 run 1, b 1/4"},
		"a cluster at its first bounds is held": {snapshot(Prioritized, 2, 20, site("a", 0, 0, 9, fresh, priority(2)), site("b", 0, 0, 7, fresh, priority(1))).change(changed),
			"BoundsSplit: a 2/13 hold, b 1/7"},
		"nobody is held for a dead cluster":            {snapshot(Prioritized, 1, 9, site("a", 1, 9, 6, priority(3)), site("b", 1, 8, 2, priority(2), silent(90000))), "- a 1/9, b 1/8 Unreachable"},
		"a new one waits for one out of sight":         {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 2), site("b", 1, 5, 2, silent(15)), site("c", 0, 0, 0, fresh)), "- a 1/5, b 1/5 Unreachable, c 0/0 Excluded"},
		"one out of sight runs what is needed":         {snapshot(StaticWeighted, 1, 10, site("a", 1, 5, 2, silent(15)), site("b", 1, 5, 0, atZero)).change(toZero), "- a 1/5 Unreachable, b 1/5 ScaledToZero"},
		"one that is dead does not run what is needed": {snapshot(StaticWeighted, 1, 5, site("a", 1, 5, 2, silent(9000)), site("b", 1, 5, 0, atZero)).change(toZero), "ScaledFromZero: a 1/5 Unreachable, b 1/5 run 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, told(Next(tc.s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

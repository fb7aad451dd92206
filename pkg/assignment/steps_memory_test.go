// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestNextRemembersTheFleet(t *testing.T) {
	type memory = v1alpha1.AssignmentStatus
	at := func(seconds int) *metav1.Time { return new(metav1.NewTime(*ago(seconds))) }
	two := func(changes ...siteChange) []Site {
		return []Site{site("a", 1, 5, 2, changes...), site("b", 1, 5, 2, ratio(900, 100))}
	}
	dynamic := func(changes ...siteChange) []Site {
		return []Site{site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, changes...)}
	}
	tests := map[string]struct {
		Snapshot
		want memory
	}{
		"nothing":                      {snapshot(StaticWeighted, 2, 10, two()...), memory{}},
		"the load is below its target": {snapshot(StaticWeighted, 2, 10, two(ratio(1000, 1099))...), memory{UnderloadedSince: at(0)}},
		"of the worst metric in each":  {snapshot(StaticWeighted, 2, 10, two(ratio(100, 1100))...), memory{}},
		"at its target it is not below": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 2, ratio(1000)), site("b", 1, 5, 2, ratio(1000))),
			memory{}},
		"nothing runs": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 0), site("b", 1, 5, 0)).change(low), memory{}},
		"still below": {snapshot(StaticWeighted, 2, 10, two(ratio(900, 0))...).change(low),
			memory{UnderloadedSince: at(300)}},
		"no more":         {snapshot(StaticWeighted, 2, 10, two(ratio(1200, 0))...).change(low), memory{}},
		"no longer known": {snapshot(StaticWeighted, 2, 10, two()...).change(low), memory{}},
		"bounds moved":    {snapshot(DynamicWeighted, 2, 13, dynamic(hosts(9))...), memory{LastRebalanceTime: at(0)}},
		"nothing to move": {snapshot(DynamicWeighted, 2, 13,
			dynamic()...).change(func(s *Snapshot) { s.Memory.LastRebalanceTime = at(900) }), memory{LastRebalanceTime: at(900)}},
		"woken": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 0, atZero),
			site("b", 1, 5, 2, ratio(1000))).change(toZero), memory{LastScaleFromZeroTime: at(0)}},
		"a silent cluster may run on": {snapshot(Aggregated, 1, 10, site("a", 1, 10, 2), site("b", 1, 4, 2, silent(300))),
			memory{UnreachableMax: new(int32(4))}},
		"but not beyond what it stands for": {snapshot(Aggregated, 1, 14, site("a", 1, 10, 2), site("b", 1, 4, 2, silent(299))), memory{}},
		"nor is what everybody has":         {snapshot(Duplicated, 1, 10, site("a", 1, 10, 2), site("b", 1, 10, 2, silent(900))), memory{}},
		"what is no concern of it stays": {snapshot(StaticWeighted, 2, 10,
			two()...).change(func(s *Snapshot) { s.Memory.DriftingSince = at(7) }), memory{DriftingSince: at(7)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := tc.Memory.DeepCopy()
			fleettest.Same(t, "", tc.want, Next(tc.Snapshot).Memory)
			if diff := cmp.Diff(*before, tc.Memory); diff != "" {
				t.Errorf("the snapshot changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestNextRemembersTheSite(t *testing.T) {
	type state struct {
		v1alpha1.ClusterState
		since       time.Time
		schedulable *time.Time
	}
	long := *ago(9000)
	tests := map[string]struct {
		site Site
		want state
	}{
		"active as before": {site("a", 1, 5, 2), state{v1alpha1.ClusterActive, long, nil}},
		"new":              {site("a", 1, 5, 2, fresh), state{v1alpha1.ClusterActive, noon, nil}},
		"silent from now": {site("a", 1, 5, 2, func(s *Site) { s.Presence = Silent }),
			state{v1alpha1.ClusterUnreachable, noon, nil}},
		"silent as before":             {site("a", 1, 5, 2, silent(7)), state{v1alpha1.ClusterUnreachable, *ago(7), nil}},
		"back":                         {site("a", 1, 5, 2, back), state{v1alpha1.ClusterActive, noon, nil}},
		"leaving":                      {site("a", 1, 5, 2, leaving), state{v1alpha1.ClusterExcluded, noon, nil}},
		"gone":                         {site("a", 0, 0, 2, leaving), state{v1alpha1.ClusterExcluded, long, nil}},
		"without bounds as before":     {site("a", 0, 0, 2), state{v1alpha1.ClusterExcluded, long, nil}},
		"full as before":               {site("a", 1, 5, 2, saturated(nil), hosts(0)), state{v1alpha1.ClusterSaturated, long, nil}},
		"full, but with room from now": {site("a", 1, 5, 2, saturated(nil), hosts(1)), state{v1alpha1.ClusterSaturated, long, ago(0)}},
		"full, with room for a while":  {site("a", 1, 5, 2, saturated(ago(59)), hosts(1)), state{v1alpha1.ClusterSaturated, long, ago(59)}},
		"full, with room for long":     {site("a", 1, 5, 2, saturated(ago(60)), hosts(1)), state{v1alpha1.ClusterActive, noon, nil}},
		"full, and Pods wait again": {site("a", 1, 5, 2, saturated(ago(90)), hosts(1), pending(1, 1)),
			state{v1alpha1.ClusterSaturated, long, nil}},
		"full, nobody knows":           {site("a", 1, 5, 2, saturated(nil)), state{v1alpha1.ClusterSaturated, long, ago(0)}},
		"full, nobody knows for long":  {site("a", 1, 5, 2, saturated(ago(299))), state{v1alpha1.ClusterSaturated, long, ago(299)}},
		"full, nobody knows, too long": {site("a", 1, 5, 2, saturated(ago(300))), state{v1alpha1.ClusterActive, noon, nil}},
		"refusing":                     {site("a", 1, 5, 2, refusing), state{v1alpha1.ClusterActive, long, nil}},
		"refusing, and full as before": {site("a", 1, 5, 2, refusing, saturated(ago(7))), state{v1alpha1.ClusterSaturated, long, ago(7)}},
		"refusing its first bounds":    {site("a", 0, 0, 2, refusing), state{v1alpha1.ClusterExcluded, long, nil}},
		"refusing, and back before":    {site("a", 1, 5, 2, refusing, back), state{v1alpha1.ClusterActive, noon, nil}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(DynamicWeighted, 1, 10, tc.site, site("z", 1, 10-tc.site.Max, 1))
			s.Rebalance.Strategy = v1alpha1.RebalanceNone
			got := Next(s).Sites["a"]
			fleettest.Same(t, "", tc.want, state{got.State, got.Since, got.SchedulableSince}, cmp.AllowUnexported(state{}))
		})
	}
}

// Nothing wraps with the largest fleets and loads.
func TestNextTheLargest(t *testing.T) {
	s := snapshot(Prioritized, math.MaxInt32, math.MaxInt32)
	toZero(&s)
	low(&s)
	for i := range rune(1000) {
		s.Sites = append(s.Sites, site(string('a'+i), math.MaxInt32/1000, math.MaxInt32/1000, math.MaxInt32, ratio(math.MaxInt64, -1),
			hosts(math.MaxInt32)))
	}
	s.Sites[0].Min, s.Sites[0].Max = s.Sites[0].Min+math.MaxInt32%1000, s.Sites[0].Max+math.MaxInt32%1000
	s.Sites[1].Current = 0
	step := Next(s)
	if step.Action != Woken || step.Memory.UnderloadedSince != nil {
		t.Errorf("action %q, underloaded since %v, want %q and no time", step.Action, step.Memory.UnderloadedSince, Woken)
	}
}

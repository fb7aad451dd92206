// SPDX-License-Identifier: Apache-2.0

package central

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// partOf is a cluster that was told to run so many replicas.
func partOf(name string, assigned int32) *part {
	p := &part{Cluster: &selection.Cluster{}, assigned: &assigned, state: v1alpha1.ClusterActive}
	p.Facts.Name = name
	return p
}

// Of what is not to be added, or taken away, the first clusters are spared as much as they can be. What runs twice while it moves is
// neither.
func TestLessen(t *testing.T) {
	v := &division{moved: map[string]int32{"c": 1}}
	for _, tc := range []struct {
		by       int32
		to, want map[string]int32 // of clusters that run 4
	}{
		{0, map[string]int32{"a": 2}, map[string]int32{"a": 2}},
		{3, map[string]int32{"a": 6, "b": 6, "c": 7}, map[string]int32{"b": 5, "c": 7}},
		{5, map[string]int32{"a": 6, "b": 6, "c": 7}, map[string]int32{"c": 6}},
		{9, map[string]int32{"a": 6, "c": 7}, map[string]int32{"c": 5}},
		{3, map[string]int32{"a": 2, "b": 1}, map[string]int32{"b": 2}},
	} {
		var clusters []*part
		for _, name := range slices.Sorted(maps.Keys(tc.to)) {
			p := partOf(name, 4)
			p.to = new(tc.to[name])
			clusters = append(clusters, p)
		}
		got := map[string]int32{}
		for _, p := range v.lessen(clusters, tc.by) {
			got[p.Facts.Name] = *p.to
		}
		same(t, "they are told", tc.want, got)
	}
}

// A drained cluster that cannot be told runs nothing, as far as the others are concerned, once they were told all that takes its place.
func TestPlaceOfWhoCannotBeTold(t *testing.T) {
	for name, tc := range map[string]struct {
		to   *int32 // what east is told; it should be 6
		err  error
		want int32
	}{
		"taken over": {to: new(int32(6)), want: 0},
		"in part":    {to: new(int32(5)), want: 2},
		"refused":    {to: new(int32(6)), err: errors.New("no"), want: 2},
		"not yet":    {want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			east, west := partOf("east", 4), partOf("west", 2)
			east.to, east.err = tc.to, tc.err
			west.state, west.Standing.Standing = v1alpha1.ClusterUnreachable, taints.Drained
			o := outcome{}
			o.division = &division{Distribution: assignment.Distribution{Replicas: map[string]int32{"east": 6}}, changed: []*part{east}}
			same(t, "west runs", tc.want, *o.assigned(west))
		})
	}
}

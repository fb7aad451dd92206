// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// candidates are clusters a, b, c ... that run these replicas, of weight 1 and without bounds.
func candidates(current ...int32) []Cluster {
	var clusters []Cluster
	for i, replicas := range current {
		clusters = append(clusters, Cluster{Name: string(rune('a' + i)), Current: replicas,
			Preference: Preference{Weight: 1, Ceiling: math.MaxInt32}})
	}
	return clusters
}

func weighing(clusters []Cluster, weights ...int64) []Cluster {
	for i, weight := range weights {
		clusters[i].Weight = weight
	}
	return clusters
}

func hosting(clusters []Cluster, capacities ...int32) []Cluster {
	for i, capacity := range capacities {
		clusters[i].Capacity = &capacity
	}
	return clusters
}

func preferring(clusters []Cluster, priorities ...int32) []Cluster {
	for i, priority := range priorities {
		clusters[i].Priority = priority
	}
	return clusters
}

// within gives a cluster a floor and a ceiling.
func within(clusters []Cluster, i int, floor, ceiling int32) []Cluster {
	clusters[i].Floor, clusters[i].Ceiling = floor, ceiling
	return clusters
}

// split is an assignment as three lists, in the order of the names.
type split struct{ mins, maxes, initial []int32 }

func splitOf(a Assignment) split {
	var s split
	for i := range len(a.Bounds) {
		b := a.Bounds[string(rune('a'+i))]
		s.mins, s.maxes, s.initial = append(s.mins, b.Min), append(s.maxes, b.Max), append(s.initial, b.Initial)
	}
	return s
}

func TestAssign(t *testing.T) {
	type n = []int32
	const (
		none     = math.MaxInt32
		minFirst = v1alpha1.DistributionMinFirst
	)
	equal := func(count int) []Cluster { return candidates(make([]int32, count)...) }
	tests := map[string]struct {
		AssignQuestion
		want split
	}{
		"duplicated: all get the whole": {
			AssignQuestion{Policy: Duplicated, Min: 3, Max: 10, Clusters: candidates(1, 4, 20, 0)},
			split{n{3, 3, 3, 3}, n{10, 10, 10, 10}, n{1, 4, 20, 3}}},
		"duplicated: no bounds of their own, and never zero": {
			AssignQuestion{Policy: Duplicated, Min: 0, Max: 10, ScalingToZero: true, Clusters: within(candidates(0, 4), 0, 0, 2)},
			split{n{1, 1}, n{10, 10}, n{1, 4}}},
		"no more at least than at most": {
			AssignQuestion{Policy: Duplicated, Min: 12, Max: 10, Clusters: candidates(0)}, split{n{10}, n{10}, n{10}}},
		"static weights, to zero": {
			AssignQuestion{Policy: StaticWeighted, Min: 2, Max: 10, ScalingToZero: true, Clusters: weighing(candidates(1, 4, 0), 1, 2, 3)},
			split{n{1, 1, 1}, n{1, 4, 5}, n{1, 4, 0}}},
		"static weights": {
			AssignQuestion{Policy: StaticWeighted, Min: 2, Max: 10, Clusters: weighing(candidates(1, 4, 0), 1, 2, 3)},
			split{n{1, 1, 1}, n{1, 4, 5}, n{1, 4, 1}}},
		"dynamic weights": {
			AssignQuestion{Policy: DynamicWeighted, Min: 8, Max: 24, Clusters: hosting(equal(3), 1, 5, 2)},
			split{n{1, 5, 2}, n{3, 15, 6}, n{1, 5, 2}}},
		"dynamic weights, to zero: a new workload starts": {
			AssignQuestion{Policy: DynamicWeighted, Min: 8, Max: 24, ScalingToZero: true, Clusters: hosting(equal(3), 1, 5, 2)},
			split{n{1, 5, 2}, n{3, 15, 6}, n{1, 5, 2}}},
		"to zero: as many start as the minimum takes, the first of the policy": {
			AssignQuestion{Policy: Aggregated, Min: 3, Max: 24, ScalingToZero: true, Clusters: hosting(equal(3), 2, 9, 4)},
			split{n{1, 3, 1}, n{2, 18, 4}, n{0, 3, 0}}},
		"few clusters: what is too much goes to the first": {
			AssignQuestion{Policy: Aggregated, Min: 8, Max: 24, Clusters: hosting(equal(3), 8, 2, 2)},
			split{n{8, 1, 1}, n{20, 2, 2}, n{8, 1, 1}}},
		"few clusters: one is enough": {
			AssignQuestion{Policy: Aggregated, Min: 2, Max: 6, Clusters: hosting(equal(3), 8, 2, 2)},
			split{n{2, 0, 0}, n{6, 0, 0}, n{2, 0, 0}}},
		"priorities, to zero": {
			AssignQuestion{Policy: Prioritized, Min: 8, Max: 24, ScalingToZero: true, Clusters: preferring(hosting(candidates(15, 0), 20, 1), 2, 1)},
			split{n{8, 1}, n{23, 1}, n{15, 0}}},
		"priorities": {
			AssignQuestion{Policy: Prioritized, Min: 8, Max: 24, Clusters: preferring(hosting(candidates(15, 0), 20, 1), 2, 1)},
			split{n{8, 1}, n{23, 1}, n{15, 1}}},
		"priorities, more than all can host": {
			AssignQuestion{Policy: Prioritized, Min: 3, Max: 30, Clusters: preferring(hosting(equal(3), 10, 5, 4), 3, 2, 1)},
			split{n{3, 1, 1}, n{21, 5, 4}, n{3, 1, 1}}},
		"priorities, less than all can host": {
			AssignQuestion{Policy: Prioritized, Min: 6, Max: 12, Clusters: preferring(hosting(equal(3), 5, 5, 9), 3, 2, 1)},
			split{n{5, 1, 1}, n{5, 5, 2}, n{5, 1, 1}}},
		"equal weights": {
			AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 10, Clusters: equal(3)},
			split{n{1, 1, 1}, n{4, 3, 3}, n{1, 1, 1}}},
		"a light cluster may get nothing, though something runs there": {
			AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 2, Clusters: weighing(candidates(7, 0, 0), 1, 2, 3)},
			split{n{0, 1, 1}, n{0, 1, 1}, n{0, 1, 1}}},
		"dynamic weights, one can host nothing": {
			AssignQuestion{Policy: DynamicWeighted, Min: 3, Max: 9, Clusters: hosting(equal(3), 0, 4, 2)},
			split{n{0, 2, 1}, n{0, 6, 3}, n{0, 2, 1}}},
		"dynamic weights, nobody can host anything": {
			AssignQuestion{Policy: DynamicWeighted, Min: 3, Max: 9, Clusters: hosting(equal(2), 0, 0)},
			split{n{2, 1}, n{5, 4}, n{2, 1}}},
		"thresholds": {
			AssignQuestion{Policy: StaticWeighted, Min: 4, Max: 20, Clusters: within(within(equal(3), 0, 3, 6), 1, 1, none)},
			split{n{3, 1, 1}, n{6, 8, 6}, n{3, 1, 1}}},
		"a ceiling": {
			AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 10, Clusters: within(weighing(equal(3), 1, 1, 2), 1, 0, 2)},
			split{n{1, 1, 1}, n{3, 2, 5}, n{1, 1, 1}}},
		"the floor counts as capacity in use": {
			AssignQuestion{Policy: Prioritized, Min: 1, Max: 12, Clusters: within(preferring(hosting(equal(2), 8, 8), 2, 1), 0, 3, none)},
			split{n{1, 1}, n{8, 4}, n{1, 1}}},
		"minimum first": {
			AssignQuestion{Policy: StaticWeighted, Min: 2, Max: 10, Order: minFirst, Clusters: equal(3)},
			split{n{1, 1, 0}, n{5, 5, 0}, n{1, 1, 0}}},
		"minimum first, enough for all": {
			AssignQuestion{Policy: StaticWeighted, Min: 7, Max: 10, Order: minFirst, Clusters: equal(3)},
			split{n{3, 2, 2}, n{4, 3, 3}, n{3, 2, 2}}},
		"minimum first, by default one cluster": {
			AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 10, Order: minFirst, Clusters: equal(3)},
			split{n{1, 0, 0}, n{10, 0, 0}, n{1, 0, 0}}},
		"minimum first, of nothing": {
			AssignQuestion{Policy: StaticWeighted, Min: 0, Max: 10, Order: minFirst, Clusters: equal(3)},
			split{n{1, 0, 0}, n{10, 0, 0}, n{1, 0, 0}}},
		"minimum first, with thresholds": {
			AssignQuestion{Policy: StaticWeighted, Min: 2, Max: 12, Order: minFirst, Clusters: within(within(equal(3), 0, 1, 4), 1, 1, none)},
			split{n{1, 1, 0}, n{4, 8, 0}, n{1, 1, 0}}},
		"minimum first, and what runs keeps its place": {
			AssignQuestion{Policy: StaticWeighted, Min: 4, Max: 12, Order: minFirst, Keep: true, Clusters: candidates(8, 1, 1)},
			split{n{2, 1, 1}, n{9, 2, 1}, n{8, 1, 1}}},
		"minimum first, but not above what may run": {
			AssignQuestion{Policy: StaticWeighted, Min: 9, Max: 9, Order: minFirst, Keep: true, Clusters: candidates(2, 7)},
			split{n{2, 7}, n{2, 7}, n{2, 7}}},
		"a minimum of zero": {
			AssignQuestion{Policy: StaticWeighted, Min: 0, Max: 10, ScalingToZero: true, Clusters: equal(3)},
			split{n{1, 1, 1}, n{4, 3, 3}, n{0, 0, 0}}},
		"what runs keeps its place": {
			AssignQuestion{Policy: Aggregated, Min: 2, Max: 9, Keep: true, Clusters: hosting(candidates(1, 4, 3), 9, 9, 0)},
			split{n{2, 1, 1}, n{2, 4, 3}, n{1, 4, 3}}},
		"what runs keeps its place, up to the ceiling": {
			AssignQuestion{Policy: Aggregated, Min: 2, Max: 9, Keep: true, Clusters: within(hosting(candidates(1, 4, 3), 9, 9, 0), 2, 0, 2)},
			split{n{2, 1, 1}, n{3, 4, 2}, n{1, 4, 3}}},
		"more runs than there may be": {
			AssignQuestion{Policy: Aggregated, Min: 2, Max: 7, Keep: true, Clusters: hosting(candidates(1, 4, 3), 9, 9, 0)},
			split{n{2, 0, 0}, n{7, 0, 0}, n{1, 0, 0}}},
		"all that there can be": {
			AssignQuestion{Policy: StaticWeighted, Min: 1, Max: math.MaxInt32, Clusters: weighing(equal(2), 1000, 1)},
			split{n{1, 1}, n{2145338309, 2145338}, n{1, 1}}},
		"nobody": {AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 10}, split{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, splitOf(Assign(tc.AssignQuestion)), cmp.AllowUnexported(split{}))
		})
	}
}

func TestAssignSaysWhatIsWrong(t *testing.T) {
	capped := within(within(candidates(0, 0), 0, 0, 4), 1, 0, 3)
	tests := map[string]struct {
		AssignQuestion
		unassigned int32
		unweighted bool
	}{
		"nothing":                  {AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 7, Clusters: capped}, 0, false},
		"the ceilings are too low": {AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 10, Clusters: capped}, 3, false},
		"even for the minimum":     {AssignQuestion{Policy: Aggregated, Min: 9, Max: 10, Clusters: capped}, 3, false},
		"with the minimum first": {AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 10, Order: v1alpha1.DistributionMinFirst,
			Clusters: capped}, 6, false},
		"no weights": {AssignQuestion{Policy: StaticWeighted, Min: 1, Max: 7, Clusters: weighing(candidates(1, 1), 0, 0)}, 0,
			true},
		"no capacity":                 {AssignQuestion{Policy: DynamicWeighted, Min: 1, Max: 7, Clusters: candidates(0, 0)}, 0, true},
		"no weights, but none needed": {AssignQuestion{Policy: Duplicated, Min: 1, Max: 7, Clusters: weighing(candidates(0, 0), 0, 0)}, 0, false},
		"no clusters":                 {AssignQuestion{Policy: Prioritized, Min: 1, Max: 7}, 7, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Assign(tc.AssignQuestion); got.Unassigned != tc.unassigned || got.Unweighted != tc.unweighted {
				t.Errorf("unassigned %d, unweighted %t, want %d, %t", got.Unassigned, got.Unweighted, tc.unassigned, tc.unweighted)
			}
		})
	}
}

func TestAssignTellsWhoWasBumped(t *testing.T) {
	got := Assign(AssignQuestion{Policy: StaticWeighted, Min: 2, Max: 10, Clusters: weighing(candidates(0, 0, 0), 1, 2, 3)})
	for name, want := range map[string]bool{"a": true, "b": false, "c": false} {
		if got.Bounds[name].Bumped != want {
			t.Errorf("%s: bumped %t, want %t", name, !want, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const (
	maxReplicas = math.MaxInt32
	cases       = 60_000 // random ones of each property
)

// destinations are clusters a, b, c ... with these current replicas, weighing 1, 2, 3 ... and without bounds.
func destinations(current ...int32) []Cluster {
	clusters := candidates(current...)
	for i := range clusters {
		clusters[i].Weight = int64(i + 1)
	}
	return clusters
}

// with changes one cluster of them.
func with(clusters []Cluster, name string, change func(*Cluster)) []Cluster {
	i := slices.IndexFunc(clusters, func(c Cluster) bool { return c.Name == name })
	change(&clusters[i])
	return clusters
}

func loads(clusters []Cluster, loads ...int64) []Cluster {
	for i, load := range loads {
		clusters[i].Load = load
	}
	return clusters
}

// inOrder are the numbers in the order of the names.
func inOrder(numbers map[string]int32) []int32 {
	var list []int32
	for i := range len(numbers) {
		list = append(list, numbers[string(rune('a'+i))])
	}
	return list
}

func TestDistribute(t *testing.T) {
	none := destinations(0, 0, 0)
	limited := func(c *Cluster) { c.Limit = new(int32(3)) }
	atMost3 := func(c *Cluster) { c.Ceiling = 3 }
	tests := map[string]struct {
		policy   Policy
		total    int32
		clusters []Cluster
		want     []int32
	}{
		"1:2:3, ten from nothing":                   {StaticWeighted, 10, none, []int32{1, 4, 5}},
		"1:2:3, eleven from nothing":                {StaticWeighted, 11, none, []int32{1, 4, 6}},
		"1:2:3, twelve from nothing":                {StaticWeighted, 12, none, []int32{2, 4, 6}},
		"1:2:3, nine from nothing":                  {StaticWeighted, 9, none, []int32{1, 3, 5}},
		"1:2:3, six from nothing":                   {StaticWeighted, 6, none, []int32{1, 2, 3}},
		"far from its shares, nothing moves":        {StaticWeighted, 10, destinations(5, 5, 0), []int32{5, 5, 0}},
		"what is added goes where it is short":      {StaticWeighted, 12, destinations(5, 5, 0), []int32{5, 5, 2}},
		"what is taken comes from where it is long": {StaticWeighted, 8, destinations(5, 5, 0), []int32{3, 5, 0}},
		"a cluster at its ceiling":                  {StaticWeighted, 10, with(destinations(0, 0, 0), "c", atMost3), []int32{2, 5, 3}},
		"a cluster that cannot host more":           {StaticWeighted, 10, with(destinations(0, 0, 0), "c", limited), []int32{2, 5, 3}},
		"a cluster is lost":                         {StaticWeighted, 10, destinations(1, 4), []int32{3, 7}},
		"nothing":                                   {StaticWeighted, 0, destinations(1, 4, 5), []int32{0, 0, 0}},
		"no weights: equally":                       {StaticWeighted, 10, weighing(destinations(0, 0, 0), 0, 0, 0), []int32{4, 3, 3}},
		"a weight of 0 has no share":                {StaticWeighted, 10, weighing(destinations(0, 0, 0), 0, 1, 1), []int32{0, 5, 5}},
		"a weight of 0 takes what others cannot":    {StaticWeighted, 10, with(weighing(destinations(0, 0), 0, 1), "b", atMost3), []int32{7, 3}},
		"a floor comes first": {StaticWeighted, 3, with(destinations(0, 0, 0), "a", func(c *Cluster) { c.Floor = 2 }),
			[]int32{2, 0, 1}},
		"a floor is kept on the way down": {StaticWeighted, 3, with(destinations(5, 5, 5), "a", func(c *Cluster) { c.Floor = 2 }),
			[]int32{2, 0, 1}},
		"below the floors only if there is no way": {StaticWeighted, 1, with(destinations(2, 0, 0), "a", func(c *Cluster) { c.Floor = 2 }),
			[]int32{1, 0, 0}},
		"pending replicas go elsewhere": {StaticWeighted, 10, with(destinations(1, 4, 5), "c", limited), []int32{2, 5, 3}},
		"all are full: the pending stay": {StaticWeighted, 6,
			with(with(destinations(2, 4), "a", func(c *Cluster) { c.Limit = new(int32(1)) }), "b", limited), []int32{2, 4}},
		"one held, the others divide the rest": {StaticWeighted, 12,
			with(destinations(0, 0, 6), "c", func(c *Cluster) { c.Held = true }), []int32{2, 4, 6}},
		"one held with more than all": {StaticWeighted, 5,
			with(destinations(1, 1, 6), "c", func(c *Cluster) { c.Held = true }), []int32{0, 0, 6}},
		"as many as each can host":                  {DynamicWeighted, 24, hosting(destinations(0, 0, 0), 1, 5, 2), []int32{3, 15, 6}},
		"capacity unknown: as many as run":          {DynamicWeighted, 9, destinations(2, 1), []int32{6, 3}},
		"no capacity: equally":                      {DynamicWeighted, 9, hosting(destinations(0, 0), 0, 0), []int32{5, 4}},
		"few clusters: the largest is filled first": {Aggregated, 9, hosting(destinations(0, 0, 0), 2, 8, 2), []int32{1, 8, 0}},
		"few clusters: one that runs comes first":   {Aggregated, 9, hosting(destinations(1, 0, 0), 2, 8, 2), []int32{2, 7, 0}},
		"few clusters: the rest goes to the first":  {Aggregated, 24, hosting(destinations(0, 0, 0), 8, 2, 2), []int32{20, 2, 2}},
		"few clusters: the smallest is emptied":     {Aggregated, 9, hosting(destinations(3, 8, 2), 2, 8, 2), []int32{1, 8, 0}},
		"the highest priority is filled first": {Prioritized, 12, preferring(hosting(destinations(0, 0, 0), 10, 5, 5), 1, 3, 2),
			[]int32{2, 5, 5}},
		"the highest priority takes what is too much": {Prioritized, 24, preferring(hosting(destinations(0, 0), 20, 1), 2, 1), []int32{23, 1}},
		"the lowest priority is emptied first":        {Prioritized, 12, preferring(hosting(destinations(12, 3), 5, 5), 2, 1), []int32{12, 0}},
		"equal priorities shrink to their shares":     {Prioritized, 6, preferring(hosting(destinations(4, 8), 5, 4), 1, 1), []int32{4, 2}},
		"as the load is":                    {LoadWeighted, 8, loads(destinations(4, 4), 300, 100), []int32{4, 4}},
		"as the load is, from nothing":      {LoadWeighted, 8, loads(destinations(0, 0), 300, 100), []int32{6, 2}},
		"equal means are no reason to move": {LoadWeighted, 8, loads(destinations(6, 2), 300, 100), []int32{6, 2}},
		"growing as the load is":            {LoadWeighted, 16, loads(destinations(6, 2), 300, 100), []int32{12, 4}},
		"no load: equally":                  {LoadWeighted, 9, destinations(0, 0), []int32{5, 4}},
		"all that there can be":             {StaticWeighted, maxReplicas, weighing(destinations(0, 0), 1000, 1), []int32{2145338309, 2145338}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Distribute(DistributeQuestion{Policy: tc.policy, Total: tc.total, Clusters: tc.clusters})
			fleettest.Same(t, "", tc.want, inOrder(got.Replicas))
		})
	}
}

func TestDistributeSaysWhatIsWrong(t *testing.T) {
	atMost := func(n int32) func(*Cluster) { return func(c *Cluster) { c.Ceiling = n } }
	full := func(n int32) func(*Cluster) { return func(c *Cluster) { c.Limit = &n } }
	tests := map[string]struct {
		DistributeQuestion
		want Distribution // but for the replicas
	}{
		"nothing": {DistributeQuestion{Policy: StaticWeighted, Total: 6, Clusters: destinations(2, 4)}, Distribution{}},
		"the ceilings leave a part to nobody": {
			DistributeQuestion{Policy: StaticWeighted, Total: 6, Clusters: with(with(destinations(2, 4), "a", atMost(1)), "b", atMost(2))},
			Distribution{Unplaced: 3}},
		"no cluster at all": {DistributeQuestion{Policy: Aggregated, Total: 6}, Distribution{Unplaced: 6}},
		"one is full, one takes": {DistributeQuestion{Policy: StaticWeighted, Total: 6, Clusters: with(destinations(2, 4), "b", full(1))},
			Distribution{}},
		"all are full": {
			DistributeQuestion{Policy: StaticWeighted, Total: 6, Clusters: with(with(destinations(2, 4), "a", full(2)), "b", full(3))},
			Distribution{Saturated: true}},
		"all are full, and at their ceilings": {
			DistributeQuestion{Policy: Prioritized, Total: 6, Clusters: with(with(destinations(2, 4), "a", full(1)), "a", atMost(1))[:1]},
			Distribution{Unplaced: 5}},
		"no capacity is known": {DistributeQuestion{Policy: DynamicWeighted, Total: 6, Clusters: destinations(0, 0)},
			Distribution{Unweighted: true}},
		"no weight where none is read": {DistributeQuestion{Policy: Aggregated, Total: 6, Clusters: weighing(destinations(0, 0), 0, 0)},
			Distribution{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Distribute(tc.DistributeQuestion)
			got.Replicas, got.Targets = nil, nil
			fleettest.Same(t, "", tc.want, got)
		})
	}
}

func TestDistributeByDefinition(t *testing.T) {
	t.Parallel()
	for seed := range fleettest.Rounds(cases, 20) {
		q := randomDistribution(rand.New(rand.NewPCG(seed, 0)), false)
		if diff := fleettest.Diff(byDefinition(q), Distribute(q)); diff != "" {
			t.Fatalf("seed %d: %+v (-definition +got):\n%s", seed, q, diff)
		}
	}
}

func TestDistributeManyByDefinition(t *testing.T) {
	t.Parallel()
	for seed := range fleettest.Rounds(20, 4) {
		r := rand.New(rand.NewPCG(seed, 1))
		q := randomDistribution(r, false)
		q.Total = 100_000 + r.Int32N(1000)
		for i := range q.Clusters {
			q.Clusters[i].Current *= r.Int32N(3000)
		}
		if diff := fleettest.Diff(byDefinition(q), Distribute(q)); diff != "" {
			t.Fatalf("seed %d: %+v (-definition +got):\n%s", seed, q, diff)
		}
	}
}

// FuzzDistribute holds Distribute to its definition and to what needs no definition.
func FuzzDistribute(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, int32(seed%50))
	}
	f.Fuzz(func(t *testing.T, seed uint64, total int32) {
		r := rand.New(rand.NewPCG(seed, 2))
		q := randomDistribution(r, false)
		q.Total = max(0, total%5000)
		if diff := fleettest.Diff(byDefinition(q), Distribute(q)); diff != "" {
			t.Fatalf("%+v (-definition +got):\n%s", q, diff)
		}
		checkDistribution(t, r, q)
	})
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// clustersOf are named a, b, ... and run so many; one below zero is held, and runs as many as without the sign.
func clustersOf(current ...int32) []Cluster {
	var all []Cluster
	for i, n := range current {
		all = append(all, Cluster{Name: string(rune('a' + i)), Current: max(n, -n), Held: n < 0})
	}
	return all
}

func TestInProportion(t *testing.T) {
	tests := map[string]struct {
		total    int32
		current  []int32
		want     []int32
		unplaced int32
	}{
		"twice as many":                      {20, []int32{6, 3, 1}, []int32{12, 6, 2}, 0},
		"the largest remainder":              {11, []int32{6, 3, 1}, []int32{7, 3, 1}, 0},
		"two remainders":                     {12, []int32{6, 3, 1}, []int32{7, 4, 1}, 0},
		"equal remainders, by name":          {5, []int32{2, 2}, []int32{3, 2}, 0},
		"down":                               {5, []int32{6, 3, 1}, []int32{3, 2, 0}, 0},
		"to zero":                            {0, []int32{6, 3, 1}, []int32{0, 0, 0}, 0},
		"a cluster at zero stays there":      {7, []int32{0, 3}, []int32{0, 7}, 0},
		"from zero":                          {5, []int32{0, 0, 0}, []int32{2, 2, 1}, 0},
		"one is held":                        {12, []int32{-4, 2, 2}, []int32{4, 4, 4}, 0},
		"one that is held runs all":          {3, []int32{-4, 2, 2}, []int32{4, 0, 0}, 0},
		"all are held":                       {9, []int32{-4, -2}, []int32{4, 2}, 3},
		"there is none":                      {9, nil, nil, 9},
		"less than none":                     {-1, []int32{1, 1}, []int32{0, 0}, 0},
		"as many as there can be":            {math.MaxInt32, []int32{math.MaxInt32, 0}, []int32{math.MaxInt32, 0}, 0},
		"more run together than can be said": {math.MaxInt32, []int32{math.MaxInt32, math.MaxInt32}, []int32{1 << 30, 1<<30 - 1}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := InProportion(tc.total, clustersOf(tc.current...))
			var got []int32
			for _, c := range clustersOf(tc.current...) {
				got = append(got, d.Replicas[c.Name])
			}
			if !slices.Equal(got, tc.want) || d.Unplaced != tc.unplaced {
				t.Errorf("%v, and %d unplaced; want %v and %d", got, d.Unplaced, tc.want, tc.unplaced)
			}
		})
	}
}

// What InProportion promises of any fleet, and that it does not depend on the order of the clusters.
func TestInProportionHolds(t *testing.T) {
	for seed := range fleettest.Rounds(20000, 10) {
		random := rand.New(rand.NewPCG(seed, 1))
		var clusters []Cluster
		before, held := int64(0), int64(0)
		for i := range 1 + random.IntN(6) {
			c := Cluster{Name: fmt.Sprint("c", i), Current: random.Int32N(30), Held: i > 0 && random.IntN(5) == 0}
			if random.IntN(4) == 0 {
				c.Current = 0
			}
			before += int64(c.Current)
			if c.Held {
				held += int64(c.Current)
			}
			clusters = append(clusters, c)
		}
		total := random.Int32N(150)
		if random.IntN(4) == 0 {
			total = int32(before)
		}
		d := InProportion(total, clusters)
		after := int64(0)
		for _, c := range clusters {
			n := d.Replicas[c.Name]
			after += int64(n)
			switch {
			case n < 0, c.Held && n != c.Current:
				t.Fatalf("seed %d: %s goes from %d to %d", seed, c.Name, c.Current, n)
			case int64(total) >= before && n < c.Current, int64(total) <= before && n > c.Current:
				t.Fatalf("seed %d: the fleet goes from %d to %d, and %s from %d to %d", seed, before, total, c.Name, c.Current, n)
			}
		}
		if want := max(int64(total), held); after != want || len(d.Replicas) != len(clusters) || d.Unplaced != 0 {
			t.Fatalf("seed %d: %d of %d replicas are divided: %v", seed, after, want, d)
		}
		random.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
		for name, n := range InProportion(total, clusters).Replicas {
			if n != d.Replicas[name] {
				t.Fatalf("seed %d: the order of the clusters decides", seed)
			}
		}
	}
}

// Clusters that are cordoned get no more; those that are drained give what others may take, and keep the rest.
func TestInProportionCapped(t *testing.T) {
	clusters := func(current [3]int32, most [3]int32) (all []Cluster) {
		for i, c := range clustersOf(current[:]...) {
			if most[i] >= 0 {
				c.Cap = &Bounds{Max: most[i]}
			}
			all = append(all, c)
		}
		return all
	}
	const none = -1
	for name, c := range map[string]struct {
		total    int32
		current  [3]int32
		most     [3]int32
		want     [3]int32
		unplaced int32
	}{
		"cordoned, out":                   {20, [3]int32{5, 3, 2}, [3]int32{5, none, none}, [3]int32{5, 9, 6}, 0},
		"cordoned, in":                    {5, [3]int32{5, 3, 2}, [3]int32{5, none, none}, [3]int32{3, 1, 1}, 0},
		"cordoned, unchanged":             {10, [3]int32{5, 3, 2}, [3]int32{5, none, none}, [3]int32{5, 3, 2}, 0},
		"drained":                         {10, [3]int32{5, 3, 2}, [3]int32{0, none, none}, [3]int32{0, 6, 4}, 0},
		"drained, others idle":            {10, [3]int32{10, 0, 0}, [3]int32{0, none, none}, [3]int32{0, 5, 5}, 0},
		"drained, others cordoned":        {10, [3]int32{5, 3, 2}, [3]int32{0, 3, 2}, [3]int32{5, 3, 2}, 0},
		"drained, others cordoned, fewer": {4, [3]int32{5, 3, 2}, [3]int32{0, 3, 2}, [3]int32{0, 2, 2}, 0},
		"all cordoned, out":               {14, [3]int32{5, 3, 2}, [3]int32{5, 3, 2}, [3]int32{5, 3, 2}, 4},
		"all drained":                     {9, [3]int32{5, 3, 2}, [3]int32{0, 0, 0}, [3]int32{5, 3, 1}, 0},
	} {
		d := InProportion(c.total, clusters(c.current, c.most))
		for i, k := range clusters(c.current, c.most) {
			if d.Replicas[k.Name] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, d.Replicas, c.want)
				break
			}
		}
		if d.Unplaced != c.unplaced {
			t.Errorf("%s: %d unplaced, want %d", name, d.Unplaced, c.unplaced)
		}
	}
}

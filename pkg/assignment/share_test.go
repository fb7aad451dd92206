// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestShare(t *testing.T) {
	equal := func(n int) []claim {
		claims := make([]claim, n)
		for i := range claims {
			claims[i] = claim{1, math.MaxInt32, i}
		}
		return claims
	}
	tests := map[string]struct {
		total    int64
		claims   []claim
		want     []int64
		wantLeft int64
	}{
		"ten over three":                    {10, equal(3), []int64{4, 3, 3}, 0},
		"a hundred over seven":              {100, equal(7), []int64{15, 15, 14, 14, 14, 14, 14}, 0},
		"2:3:4, four":                       {4, []claim{{2, 99, 0}, {3, 99, 1}, {4, 99, 2}}, []int64{0, 2, 2}, 0},
		"2:3:4, five":                       {5, []claim{{2, 99, 0}, {3, 99, 1}, {4, 99, 2}}, []int64{1, 1, 3}, 0},
		"heavy ones may starve a light one": {20, []claim{{7, 99, 0}, {7, 99, 1}, {7, 99, 2}, {1, 99, 3}}, []int64{7, 7, 6, 0}, 0},
		"the rank decides among equals":     {4, []claim{{1, 9, 2}, {1, 9, 0}, {1, 9, 1}}, []int64{1, 2, 1}, 0},
		"a whole quota is not rounded up":   {7, []claim{{4, 9, 0}, {3, 9, 1}, {0, 9, 2}, {7, 9, 3}}, []int64{2, 1, 0, 4}, 0},
		"what has no room":                  {7, []claim{{1, 2, 0}, {1, 3, 1}}, []int64{2, 3}, 2},
		"what has no weight":                {7, []claim{{0, 9, 0}}, []int64{0}, 7},
		"what fills its room just fits":     {6, []claim{{2, 4, 0}, {1, 9, 1}}, []int64{4, 2}, 0},
		"nothing":                           {0, equal(2), []int64{0, 0}, 0},
		"weights beyond all that is counted": {math.MaxInt32,
			[]claim{{math.MaxInt64 / 4, math.MaxInt32, 0}, {math.MaxInt64 / 2, math.MaxInt32, 1}}, []int64{715827882, 1431655765}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, left := share(tc.total, tc.claims)
			if diff := cmp.Diff(tc.want, got); diff != "" || left != tc.wantLeft {
				t.Errorf("left %d, want %d (-want +got):\n%s", left, tc.wantLeft, diff)
			}
		})
	}
}

// Loads beyond half of what an int64 holds still weigh what they weigh.
func TestLoadsSaturate(t *testing.T) {
	clusters := loads(destinations(0, 0, 0, 0), math.MaxInt64, math.MaxInt64, math.MinInt64, math.MaxInt64)
	got := Distribute(DistributeQuestion{Policy: LoadWeighted, Total: 10, Clusters: clusters})
	fleettest.Same(t, "", []int32{4, 3, 0, 3}, inOrder(got.Targets))
}

// Equals are served in an order that depends on the object, so that not every workload favours the same cluster.
func TestEqualsByTheObject(t *testing.T) {
	favourites := map[string]int{}
	for seed := range byte(100) {
		clusters := weighing(destinations(0, 0, 0), 1, 1, 1)
		for name, replicas := range Distribute(DistributeQuestion{Policy: StaticWeighted, UID: string([]byte{'u', seed}), Total: 1,
			Clusters: clusters}).Replicas {
			favourites[name] += int(replicas)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if favourites[name] < 10 {
			t.Errorf("%s is hardly ever the first: %v", name, favourites)
		}
	}
}

// TestLevelStepByStep holds level to the steps that it stands for.
func TestLevelStepByStep(t *testing.T) {
	t.Parallel()
	for seed := range fleettest.Rounds(cases, 20) {
		r := rand.New(rand.NewPCG(seed, 4))
		gaps, rooms := make([]int64, r.IntN(6)), make([]int64, 6)
		for i := range gaps {
			gaps[i], rooms[i] = r.Int64N(20)-10, r.Int64N(12)-2
		}
		rooms = rooms[:len(gaps)]
		n := r.Int64N(40) - 2
		want, left := make([]int64, len(gaps)), n
		for ; left > 0; left-- {
			best := -1
			for i := range gaps {
				if want[i] < rooms[i] && (best < 0 || gaps[i]-want[i] > gaps[best]-want[best]) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			want[best]++
		}
		got, gotLeft := level(n, gaps, rooms)
		if diff := fleettest.Diff(want, got); diff != "" || gotLeft != max(0, left) {
			t.Fatalf("level(%d, %v, %v): left %d, want %d (-want +got):\n%s", n, gaps, rooms, gotLeft, left, diff)
		}
	}
}

func BenchmarkDistribute(b *testing.B) {
	r := rand.New(rand.NewPCG(0, 0))
	q := DistributeQuestion{Policy: StaticWeighted, UID: "uid", Total: maxReplicas}
	for range 1000 {
		c := Cluster{Name: string(rune('a' + len(q.Clusters))), Current: r.Int32N(1000)}
		c.Weight, c.Ceiling = r.Int64N(1000), r.Int32()
		q.Clusters = append(q.Clusters, c)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(Distribute(q).Replicas) != len(q.Clusters) {
			b.Fatal("clusters are missing")
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const assignCases = 200_000

var assignments = []Policy{Duplicated, StaticWeighted, DynamicWeighted, Aggregated, Prioritized}

// randomAssignment is of a small fleet; plain: without thresholds and with all that runs counted again.
func randomAssignment(r *rand.Rand, plain bool) AssignQuestion {
	d := randomDistribution(r, plain)
	q := AssignQuestion{Policy: assignments[r.IntN(len(assignments))], UID: d.UID, Max: d.Total + 1, ScalingToZero: r.IntN(2) == 0}
	q.Min = r.Int32N(q.Max + 1)
	if !plain {
		q.Keep = r.IntN(3) == 0
		q.Order = []v1alpha1.DistributionOrder{"", v1alpha1.DistributionMaxFirst, v1alpha1.DistributionMinFirst}[r.IntN(3)]
	}
	for _, c := range d.Clusters {
		if r.IntN(3) == 0 {
			c.Current = 0
		}
		c.Limit, c.Load, c.Held = nil, 0, false // of central mode
		q.Clusters = append(q.Clusters, c)
	}
	return q
}

// assignByDefinition is the split of Assign one replica at a time, where neither order nor running replicas matter.
func assignByDefinition(q AssignQuestion) (mins, maxes map[string]int32) {
	mins, maxes = map[string]int32{}, map[string]int32{}
	w := newWorld(DistributeQuestion{Policy: q.Policy, UID: q.UID, Total: q.Max, Clusters: q.Clusters})
	most, _ := w.shares()
	w.total, w.limit, w.ceil = int64(q.Min), most, most
	parts, _ := w.shares()
	for _, c := range q.Clusters {
		maxes[c.Name], mins[c.Name] = int32(most[c.Name]), int32(parts[c.Name])
		if mins[c.Name] == 0 && maxes[c.Name] > 0 {
			mins[c.Name] = 1
		}
		if q.Policy == Duplicated {
			mins[c.Name], maxes[c.Name] = max(1, q.Min), q.Max
		}
	}
	return mins, maxes
}

func TestAssignProperties(t *testing.T) {
	t.Parallel()
	for seed := range fleettest.Rounds(assignCases, 20) {
		checkAssignment(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzAssign(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed + assignCases)
	}
	f.Fuzz(checkAssignment)
}

func checkAssignment(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 6))
	q := randomAssignment(r, seed%3 == 0)
	a := Assign(q)
	checkSums(t, q, a)
	checkInitial(t, q, a)
	if !q.Keep && q.Order != v1alpha1.DistributionMinFirst {
		mins, maxes := assignByDefinition(q)
		for name, b := range a.Bounds {
			if b.Min != mins[name] || b.Max != maxes[name] {
				t.Errorf("%+v: %s has %+v, by definition %d to %d", q, name, b, mins[name], maxes[name])
			}
		}
	}
	shuffled := q
	shuffled.Clusters = slices.Clone(q.Clusters)
	r.Shuffle(len(shuffled.Clusters), func(i, j int) {
		shuffled.Clusters[i], shuffled.Clusters[j] = shuffled.Clusters[j], shuffled.Clusters[i]
	})
	if diff := fleettest.Diff(a, Assign(shuffled)); diff != "" {
		t.Errorf("%+v: in another order (-first +second):\n%s", q, diff)
	}
	if seed%3 == 0 {
		checkOrder(t, q, a)
	}
}

// checkSums: the bounds add up to those of the fleet, but for what is said, and are bounds.
func checkSums(t *testing.T, q AssignQuestion, a Assignment) {
	t.Helper()
	var mins, maxes, room, bumped, running int64
	for _, c := range q.Clusters {
		b := a.Bounds[c.Name]
		if running += int64(c.Current); q.Policy == Duplicated {
			if b.Min != max(1, q.Min) || b.Max != q.Max {
				t.Errorf("%+v: %s has %+v", q, c.Name, b)
			}
			continue
		}
		if b.Max > 0 && (b.Min < 1 || b.Min > b.Max) || b.Max == 0 && b.Min != 0 || b.Max > c.Ceiling {
			t.Errorf("%+v: %s has %+v", q, c.Name, b)
		}
		mins, maxes, room = mins+int64(b.Min), maxes+int64(b.Max), room+int64(c.Ceiling)
		if b.Bumped {
			bumped++
		}
	}
	if q.Policy == Duplicated {
		return
	}
	if q.Order != v1alpha1.DistributionMinFirst && maxes != min(int64(q.Max), room) || maxes+int64(a.Unassigned) != int64(q.Max) {
		t.Errorf("%+v: the maxima sum up to %d, unassigned %d", q, maxes, a.Unassigned)
	}
	floor := int64(q.Min)
	if q.Order == v1alpha1.DistributionMinFirst {
		floor = max(1, floor)
	}
	if mins != min(floor, maxes)+bumped || mins > maxes {
		t.Errorf("%+v: the minima sum up to %d with %d bumped", q, mins, bumped)
	}
	for _, c := range q.Clusters {
		// where minima go first, a cluster without one gets no bounds, and runs what it runs
		unbounded := q.Order == v1alpha1.DistributionMinFirst && a.Bounds[c.Name].Max == 0
		if q.Keep && running <= int64(q.Max) && !unbounded && a.Bounds[c.Name].Max < min(c.Current, c.Ceiling) {
			t.Errorf("%+v: %s loses what it runs: %+v", q, c.Name, a)
		}
	}
}

// checkInitial: what runs stays, where there may be anything; and enough starts.
func checkInitial(t *testing.T, q AssignQuestion, a Assignment) {
	t.Helper()
	sum, room := int64(0), int64(0)
	for _, c := range q.Clusters {
		b := a.Bounds[c.Name]
		sum, room = sum+int64(b.Initial), room+int64(b.Max)
		switch {
		case b.Max == 0 && b.Initial != 0, b.Max > 0 && c.Current > 0 && b.Initial != c.Current:
			t.Errorf("%+v: %s begins with %+v", q, c.Name, b)
		case c.Current == 0 && b.Initial != b.Min && (b.Initial != 0 || !q.ScalingToZero || q.Policy == Duplicated):
			t.Errorf("%+v: %s begins with %+v", q, c.Name, b)
		}
	}
	fresh := !slices.ContainsFunc(q.Clusters, func(c Cluster) bool { return c.Current > 0 })
	if fresh && sum < min(int64(q.Min), room) {
		t.Errorf("%+v: begins with %d: %+v", q, sum, a)
	}
}

// checkOrder: what the policies promise, without thresholds.
func checkOrder(t *testing.T, q AssignQuestion, a Assignment) {
	t.Helper()
	weights := int64(0)
	for _, c := range q.Clusters {
		weights += c.Weight
	}
	capacity := func(c Cluster) int32 { return ptr.Deref(c.Capacity, c.Current) }
	for _, c := range q.Clusters {
		x := a.Bounds[c.Name].Max
		if exact := float64(q.Max) * float64(c.Weight) / float64(weights); q.Policy == StaticWeighted && weights > 0 &&
			math.Abs(float64(x)-exact) >= 1 {
			t.Errorf("%+v: %s has %d, its quota is %f", q, c.Name, x, exact)
		}
		for _, other := range q.Clusters {
			y := a.Bounds[other.Name].Max
			if q.Policy == StaticWeighted && c.Weight > other.Weight && x < y {
				t.Errorf("%+v: %s is heavier than %s and gets less: %+v", q, c.Name, other.Name, a)
			}
			if q.Policy == Prioritized && c.Priority > other.Priority && y > 0 && x < capacity(c) {
				t.Errorf("%+v: %s gets something before %s is full: %+v", q, other.Name, c.Name, a)
			}
		}
	}
	if fresh := !slices.ContainsFunc(q.Clusters, func(c Cluster) bool { return c.Current > 0 }); q.Policy == Aggregated && fresh {
		checkFewest(t, q, a)
	}
}

// checkFewest: the clusters are the largest, and no more than it takes.
func checkFewest(t *testing.T, q AssignQuestion, a Assignment) {
	t.Helper()
	var capacities []int32
	used, usable := 0, 0
	for _, c := range q.Clusters {
		if capacities = append(capacities, ptr.Deref(c.Capacity, 0)); a.Bounds[c.Name].Max > 0 {
			used++
		}
		if ptr.Deref(c.Capacity, 0) > 0 {
			usable++
		}
	}
	slices.Sort(capacities)
	want, covered := 0, int32(0)
	for _, capacity := range slices.Backward(capacities) {
		if covered < q.Max && capacity > 0 {
			want, covered = want+1, covered+capacity
		}
	}
	if usable == 0 {
		want = min(1, len(q.Clusters))
	}
	if used != want {
		t.Errorf("%+v: %d clusters where %d will do: %+v", q, used, want, a)
	}
}

// Nothing wraps with the largest bounds, weights and fleets.
func TestAssignTheLargest(t *testing.T) {
	for _, policy := range assignments[1:] {
		q := AssignQuestion{Policy: policy, Min: math.MaxInt32, Max: math.MaxInt32}
		for i := range rune(1000) {
			c := Cluster{Name: string('a' + i), Current: math.MaxInt32, Capacity: new(int32(math.MaxInt32))}
			c.Preference = Preference{Weight: 1000, Ceiling: math.MaxInt32, Floor: math.MaxInt32 / 2000}
			q.Clusters = append(q.Clusters, c)
		}
		checkSums(t, q, Assign(q))
	}
}

// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math/rand/v2"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestDistributeProperties(t *testing.T) {
	t.Parallel()
	for seed := range fleettest.Rounds(cases, 20) {
		r := rand.New(rand.NewPCG(seed, 3))
		checkDistribution(t, r, randomDistribution(r, false))
		checkPlainDistribution(t, r, randomDistribution(r, true))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkDistribution: what holds of every fleet. Replicas and shares add up, within the bounds; the order of the clusters
// does not show; what came out stays as it is.
func checkDistribution(t *testing.T, r *rand.Rand, q DistributeQuestion) {
	t.Helper()
	d := Distribute(q)
	held, capped := int64(0), int64(0)
	for _, c := range q.Clusters {
		if c.Held {
			held += int64(c.Current)
			if d.Replicas[c.Name] != c.Current {
				t.Errorf("%+v: held cluster %s moved: %+v", q, c.Name, d)
			}
			continue
		}
		capped += int64(c.Ceiling)
		if x := d.Replicas[c.Name]; x < 0 || x > c.Ceiling {
			t.Errorf("%+v: %s is out of bounds: %+v", q, c.Name, d)
		}
	}
	want := held + min(max(0, int64(q.Total)-held), capped)
	if placed, targeted := total(d.Replicas), total(d.Targets); placed != want || targeted != want {
		t.Errorf("%+v: %d placed, %d targeted, want %d", q, placed, targeted, want)
	}
	if left := max(0, int64(q.Total)-held-capped); int64(d.Unplaced) != left {
		t.Errorf("%+v: unplaced %d, want %d", q, d.Unplaced, left)
	}
	again := running(q, d.Replicas)
	r.Shuffle(len(again.Clusters), func(i, j int) {
		again.Clusters[i], again.Clusters[j] = again.Clusters[j], again.Clusters[i]
	})
	if diff := fleettest.Diff(d.Replicas, Distribute(again).Replicas); diff != "" {
		t.Errorf("%+v: asked once more (-first +second):\n%s", q, diff)
	}
	shuffled := running(q, nil)
	r.Shuffle(len(shuffled.Clusters), func(i, j int) {
		shuffled.Clusters[i], shuffled.Clusters[j] = shuffled.Clusters[j], shuffled.Clusters[i]
	})
	if diff := fleettest.Diff(d, Distribute(shuffled)); diff != "" {
		t.Errorf("%+v: in another order (-first +second):\n%s", q, diff)
	}
}

// checkPlainDistribution: without limits and thresholds nothing moves but what the total adds or takes, in one direction,
// and from nothing the shares come out.
func checkPlainDistribution(t *testing.T, r *rand.Rand, q DistributeQuestion) {
	t.Helper()
	if len(q.Clusters) == 0 {
		return
	}
	if q.Policy == DynamicWeighted && r.IntN(2) == 0 {
		q.Total += 30
	}
	before, moved := int64(0), int64(0)
	d := Distribute(q)
	for _, c := range q.Clusters {
		step := int64(d.Replicas[c.Name] - c.Current)
		before += int64(c.Current)
		moved += max(step, -step)
	}
	for _, c := range q.Clusters {
		if step := int64(d.Replicas[c.Name] - c.Current); step*(int64(q.Total)-before) < 0 {
			t.Errorf("%+v: %s moved against the total: %+v", q, c.Name, d)
		}
	}
	if diff := int64(q.Total) - before; moved != max(diff, -diff) {
		t.Errorf("%+v: %d moved, want %d: %+v", q, moved, diff, d)
	}
	for i := range q.Clusters {
		if q.Clusters[i].Capacity == nil { // else it is what runs
			q.Clusters[i].Capacity = new(r.Int32N(9))
		}
		q.Clusters[i].Current = 0
	}
	d = Distribute(q)
	if diff := fleettest.Diff(d.Targets, d.Replicas); diff != "" {
		t.Errorf("%+v: from nothing (-share +got):\n%s", q, diff)
	}
}

// running is the question with these replicas running; nil: as they are.
func running(q DistributeQuestion, replicas map[string]int32) DistributeQuestion {
	clusters := make([]Cluster, len(q.Clusters))
	copy(clusters, q.Clusters)
	for i := range clusters {
		if replicas != nil {
			clusters[i].Current = replicas[clusters[i].Name]
		}
	}
	q.Clusters = clusters
	return q
}

func total(replicas map[string]int32) int64 {
	n := int64(0)
	for _, r := range replicas {
		n += int64(r)
	}
	return n
}

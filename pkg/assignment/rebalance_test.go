// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var (
	noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	ago  = func(seconds int) *time.Time { return new(noon.Add(-time.Duration(seconds) * time.Second)) }
)

func TestRebalance(t *testing.T) {
	// Three clusters a, b, c with shares of 1, 4 and 5.
	run := func(current [3]int32) []Cluster {
		var clusters []Cluster
		for i, n := range current {
			clusters = append(clusters, Cluster{Name: string(rune('a' + i)), Current: n, Ready: n})
		}
		return clusters
	}
	far := [3]int32{5, 5, 0}
	moving := func(moved, ready int32) []Cluster {
		places := run(far)
		places[2].Moved, places[2].Ready = moved, ready
		return places
	}
	x := func(replicas ...int32) map[string]int32 {
		result := map[string]int32{}
		for i, n := range replicas {
			result[string(rune('a'+i))] = n
		}
		return result
	}
	want := func(replicas [3]int32) Distribution {
		return Distribution{Replicas: x(replicas[:]...), Targets: x(1, 4, 5)}
	}
	tests := map[string]struct {
		RebalanceQuestion
		want Rebalancing
	}{
		"at the shares": {
			RebalanceQuestion{Total: 10, Clusters: run([3]int32{1, 4, 5}), Distribution: want([3]int32{1, 4, 5}), DriftingSince: ago(900)},
			Rebalancing{Replicas: x(1, 4, 5)}},
		"a tenth away is near enough": {
			RebalanceQuestion{Total: 10, Clusters: run([3]int32{2, 4, 4}), Distribution: want([3]int32{2, 4, 4}), DriftingSince: ago(900)},
			Rebalancing{Replicas: x(2, 4, 4)}},
		"two tenths are not, from now on": {
			RebalanceQuestion{Total: 10, Clusters: run([3]int32{3, 4, 3}), Distribution: want([3]int32{3, 4, 3}), LastMove: ago(900)},
			Rebalancing{Replicas: x(3, 4, 3), DriftingSince: ago(0), LastMove: ago(900)}},
		"not for long enough": {
			RebalanceQuestion{Total: 10, Clusters: run(far), Distribution: want(far), DriftingSince: ago(299)},
			Rebalancing{Replicas: x(5, 5, 0), DriftingSince: ago(299)}},
		"long enough: one is added": {
			RebalanceQuestion{Total: 10, Clusters: run(far), Distribution: want(far), DriftingSince: ago(300)},
			Rebalancing{Replicas: x(5, 5, 1), Moved: x(0, 0, 1), DriftingSince: ago(300), LastMove: ago(0)}},
		"a move a while ago": {
			RebalanceQuestion{Total: 10, Clusters: run(far), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(299)},
			Rebalancing{Replicas: x(5, 5, 0), DriftingSince: ago(900), LastMove: ago(299)}},
		"a move an interval ago": {
			RebalanceQuestion{Total: 10, Clusters: run(far), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(300)},
			Rebalancing{Replicas: x(5, 5, 1), Moved: x(0, 0, 1), DriftingSince: ago(900), LastMove: ago(0)}},
		"the distribution moves something: wait": {
			RebalanceQuestion{Total: 11, Clusters: run(far), Distribution: want([3]int32{5, 5, 1}), DriftingSince: ago(900)},
			Rebalancing{Replicas: x(5, 5, 1), DriftingSince: ago(900)}},
		"the new one is not Ready": {
			RebalanceQuestion{Total: 10, Clusters: moving(1, 0), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(15)},
			Rebalancing{Replicas: x(5, 5, 1), Moved: x(0, 0, 1), DriftingSince: ago(900), LastMove: ago(15)}},
		"the new one is Ready: one goes": {
			RebalanceQuestion{Total: 10, Clusters: moving(1, 1), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(15)},
			Rebalancing{Replicas: x(4, 5, 1), DriftingSince: ago(900), LastMove: ago(15)}},
		"one of two is Ready: one goes": {
			RebalanceQuestion{Total: 10, Clusters: moving(2, 1), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(15)},
			Rebalancing{Replicas: x(4, 5, 2), Moved: x(0, 0, 1), DriftingSince: ago(900), LastMove: ago(15)}},
		"the new one never was Ready": {
			RebalanceQuestion{Total: 10, Clusters: moving(1, 0), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(300)},
			Rebalancing{Replicas: x(5, 5, 0), DriftingSince: ago(900), LastMove: ago(0)}},
		"one of two never was Ready": {
			RebalanceQuestion{Total: 10, Clusters: moving(2, 1), Distribution: want(far), DriftingSince: ago(900), LastMove: ago(300)},
			Rebalancing{Replicas: x(4, 5, 1), DriftingSince: ago(900), LastMove: ago(0)}},
		"the total falls in between": {
			RebalanceQuestion{Total: 8, Clusters: moving(1, 0), Distribution: want([3]int32{3, 5, 0}), DriftingSince: ago(900), LastMove: ago(15)},
			Rebalancing{Replicas: x(3, 5, 1), Moved: x(0, 0, 1), DriftingSince: ago(900), LastMove: ago(15)}},
		"near again in the end": {
			RebalanceQuestion{Total: 10, Distribution: want([3]int32{3, 4, 3}), Clusters: func() []Cluster {
				clusters := run([3]int32{3, 4, 3})
				clusters[2].Moved, clusters[2].Ready = 1, 4
				return clusters
			}(), DriftingSince: ago(900), LastMove: ago(15)},
			Rebalancing{Replicas: x(2, 4, 4), LastMove: ago(15)}},
		"of equal ones the first, whatever it weighs": {
			RebalanceQuestion{Total: 10, Clusters: []Cluster{{Name: "b", Preference: Preference{Weight: 9}}, {Name: "a"}, {Name: "c", Current: 10}},
				Distribution: Distribution{Replicas: x(0, 0, 10), Targets: x(5, 5, 0)}, DriftingSince: ago(900)},
			Rebalancing{Replicas: x(1, 0, 10), Moved: x(1, 0, 0), DriftingSince: ago(900), LastMove: ago(0)}},
		"a held one gets nothing, and keeps nothing from moving": {
			RebalanceQuestion{Total: 10, Clusters: []Cluster{{Name: "a", Current: 10}, {Name: "b"}, {Name: "c", Held: true, Moved: 1}},
				Distribution: Distribution{Replicas: x(10, 0, 0), Targets: x(0, 4, 6)}, DriftingSince: ago(900)},
			Rebalancing{Replicas: x(10, 1), Moved: x(0, 1), DriftingSince: ago(900), LastMove: ago(0)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.Now = noon
			fleettest.Same(t, "", tc.want, Rebalance(tc.RebalanceQuestion))
		})
	}
}

// A tenth of many is moved at a time, to where most are missing.
func TestRebalanceMany(t *testing.T) {
	q := RebalanceQuestion{Total: 105, DriftingSince: ago(300), Now: noon,
		Clusters:     []Cluster{{Name: "a", Current: 95}, {Name: "b", Current: 10}, {Name: "c"}},
		Distribution: Distribution{Replicas: map[string]int32{"a": 95, "b": 10}, Targets: map[string]int32{"a": 35, "b": 44, "c": 26}}}
	want := map[string]int32{"a": 0, "b": 9, "c": 1}
	fleettest.Same(t, "", want, Rebalance(q).Moved)
}

// village is a fleet: replicas become Ready after a while, and one cluster may never get any Ready.
type village struct {
	q           DistributeQuestion
	told, ready map[string]int32
	memory      Rebalancing
	broken      string
}

// sync is one round of the controller: distribute what is settled, and rebalance.
func (v *village) sync(now time.Time) {
	for i := range v.q.Clusters {
		c := &v.q.Clusters[i]
		c.Moved, c.Ready = v.memory.Moved[c.Name], v.ready[c.Name]
		c.Current = v.told[c.Name] - c.Moved
	}
	v.memory = Rebalance(RebalanceQuestion{Total: v.q.Total, Clusters: v.q.Clusters, Distribution: Distribute(v.q),
		DriftingSince: v.memory.DriftingSince, LastMove: v.memory.LastMove, Now: now})
	v.told = v.memory.Replicas
}

// settle lets Pods go and become Ready.
func (v *village) settle(r *rand.Rand) {
	for name, told := range v.told {
		if v.ready[name] = min(v.ready[name], told); name != v.broken && r.IntN(3) == 0 {
			v.ready[name] = told
		}
	}
}

// TestRebalanceArrives: with constant load the clusters come to their shares in a bounded time, never with fewer Ready
// replicas than the total, never with more than a tenth too many, and then stay. A cluster where nothing becomes Ready
// costs nobody a replica.
func TestRebalanceArrives(t *testing.T) {
	t.Parallel()
	for seed := range fleettest.Rounds(300, 5) {
		r := rand.New(rand.NewPCG(seed, 5))
		v := village{q: randomDistribution(r, true), told: map[string]int32{}, ready: map[string]int32{}}
		for i := range v.q.Clusters {
			c := &v.q.Clusters[i]
			v.told[c.Name], c.Capacity = c.Current, new(r.Int32N(12))
			if r.IntN(20) == 0 {
				v.broken = c.Name
			}
		}
		v.q.Total = int32(total(v.told))
		if len(v.q.Clusters) == 0 || v.q.Policy == Aggregated && v.broken != "" { // its shares follow what runs
			continue
		}
		maps.Copy(v.ready, v.told)
		last := map[string]int32{}
		for round := range 1200 { // of 15 seconds: 60 intervals
			v.sync(noon.Add(time.Duration(round) * 15 * time.Second))
			if round == 1100 {
				last = maps.Clone(v.told)
			}
			if more := total(v.told) - int64(v.q.Total); more < 0 || more > max(1, int64(v.q.Total)/10) {
				t.Fatalf("seed %d, round %d: %d more than %d run: %+v", seed, round, more, v.q.Total, v)
			}
			if v.settle(r); total(v.ready) < int64(v.q.Total) {
				t.Fatalf("seed %d, round %d: %d of %d are Ready: %+v", seed, round, total(v.ready), v.q.Total, v)
			}
		}
		if v.broken == "" && (v.memory.DriftingSince != nil || !maps.Equal(last, v.told)) {
			t.Fatalf("seed %d: no rest after 60 intervals, %v then %v: %+v", seed, last, v.told, v)
		}
	}
}

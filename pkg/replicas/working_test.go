// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"math/rand/v2"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// A decision made again of what an earlier one was told is the same, in every number.
func FuzzTold(f *testing.F) {
	for seed := range uint64(seeds) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := randomQuestion(r)
		if r.IntN(2) == 0 {
			q = hidden(r, q)
		}
		want := Decide(q)
		if want.Err != nil {
			return
		}
		again := q
		again.Clusters = nil
		for _, u := range want.Explanation.Unseen {
			again.Clusters = append(again.Clusters, Cluster{Name: u.Cluster, Silent: silenceOf(u)})
		}
		again.Metrics = []Metric{{Told: &want.Explanation.Metrics[0].Working.Told}}
		got := Decide(again)
		got.Explanation.Metrics[0].Pods, want.Explanation.Metrics[0].Pods = nil, nil
		same(t, "explanation", want.Explanation, got.Explanation)
		same(t, "replicas", want.Replicas, got.Replicas)
	})
}

func TestBusyAt(t *testing.T) {
	q := ask(8, cluster("east", 4), cluster("west", 4, silent, func(c *Cluster) { c.Drained = true })).use("east", 20)
	delete(q.Metrics[0].Pods["east"], "web-3")
	for _, target := range []int32{50, 100, 133} {
		q.Spec.Metrics[0].Resource.Target.AverageUtilization = &target
		sums := Decide(q).Explanation.Metrics[0].Working.Told.Sums
		busy, known := sums.BusyAt(target)
		same(t, "known", true, known)
		same(t, "busy", sums.Busy, busy)
	}
	_, known := (&Sums{Missing: 5}).BusyAt(50)
	same(t, "known of Pods that all differ", false, known)
}

func silenceOf(u Unseen) *fleet.Silence { return &fleet.Silence{Reason: u.Reason} }

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestEachAndWhole(t *testing.T) {
	tests := map[string]struct {
		fleet       int32
		copies      int
		each, whole int32
	}{
		"none":                      {0, 3, 0, 0},
		"one for all":               {1, 3, 1, 3},
		"an even number":            {6, 3, 2, 6},
		"one more":                  {7, 3, 3, 9},
		"one cluster":               {7, 1, 7, 7},
		"they divide it":            {7, 0, 7, 7},
		"the largest":               {math.MaxInt32, 2, 1 << 30, math.MaxInt32},
		"the largest in one":        {math.MaxInt32, 1, math.MaxInt32, math.MaxInt32},
		"the largest in many":       {math.MaxInt32, 1000, 2147484, math.MaxInt32},
		"fewer than there are some": {2, 5, 1, 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			each := Each(tc.fleet, tc.copies)
			fleettest.Same(t, "each, and all of them", []int32{tc.each, tc.whole}, []int32{each, Whole(each, tc.copies)})
		})
	}
}

// copied is a workload of so many replicas in each of two clusters, which use so many percent.
func copied(each int32, percent int64, change ...func(*Question)) Question {
	q := ask(each, cluster("east", int(each), assigned(each)), cluster("west", int(each), assigned(each)))
	q.Copies, q.Scale.StatusReplicas = 2, 2*each
	for _, f := range change {
		f(&q)
	}
	return q.use("east", percent).use("west", percent)
}

// The decision is of the replicas of each cluster, and made of the Pods of all.
func TestCopies(t *testing.T) {
	bounds := func(least, most int32) func(*Question) {
		return func(q *Question) { q.Spec.MinReplicas, q.Spec.MaxReplicas = &least, most }
	}
	policy := func(q *Question) {
		q.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{
			SelectPolicy: new(autoscalingv2.MaxChangePolicySelect), StabilizationWindowSeconds: new(int32(0)),
			Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: 60}}},
			ScaleDown: &autoscalingv2.HPAScalingRules{SelectPolicy: new(autoscalingv2.DisabledPolicySelect)}}
	}
	lagging := func(q *Question) {
		for i := range q.Clusters {
			q.Clusters[i].Replicas, q.Clusters[i].Lagging = new(int32(4)), true
		}
		*q = q.with(externalOf(share("1")), 8_000)
	}
	queue := func(milli int64, target autoscalingv2.MetricTarget) func(*Question) {
		return func(q *Question) { *q = q.with(externalOf(target), milli) }
	}
	tests := map[string]struct {
		q    Question
		want string
	}{
		"they are at their target":          {copied(5, 50), "5"},
		"within the tolerance":              {copied(5, 54), "5"},
		"they are busy":                     {copied(5, 75), "8"}, // 15 of all
		"they are idle":                     {copied(5, 20), "2"}, // 4 of all
		"what cannot be halved is more":     {copied(5, 35), "4"}, // 7 of all
		"one is busy, and the other idle":   {copied(5, 10).use("west", 90), "5"},
		"one is busier":                     {copied(5, 50).use("west", 90), "7"}, // 14 of all
		"up to the most of each":            {copied(5, 75, bounds(1, 6)), "6 TooManyReplicas"},
		"down to the least of each":         {copied(5, 5, bounds(3, 9)), "3 TooFewReplicas"},
		"above the most of each":            {copied(10, 50, bounds(1, 8)), "8"},
		"twice the most of each, together":  {copied(5, 50, bounds(1, 5)), "5"},
		"below the least of each":           {copied(2, 50, bounds(3, 8)), "3"},
		"a policy is of each":               {copied(5, 75, policy), "6 ScaleUpLimit"},
		"a share of a queue":                {copied(5, 0, queue(16_000, share("1"))), "8"},
		"a share of a queue, at its target": {copied(5, 0, queue(10_500, share("1"))), "5"},
		"a queue":                           {copied(5, 0, queue(1_500, value("1"))), "8"},
		"a queue at its target":             {copied(5, 0, queue(1_050, value("1"))), "5"},
		"one is silent, the other busy": {copied(5, 90, func(q *Question) { silent(&q.Clusters[1]); q.Clusters[1].Pods = nil }).use("west", 0),
			"5 ClusterUnreachable"}, // 9 of all
		"one is silent, the other idle": {copied(5, 10, func(q *Question) { silent(&q.Clusters[1]) }),
			"5 ClusterUnreachable"},
		"a share of a queue, at the target of what is there yet": {copied(5, 0, lagging), "5"},
		"one has not followed yet": {copied(5, 90, func(q *Question) { q.Clusters[1] = cluster("west", 2, assigned(5)) }),
			"7"}, // 13 of all: the three that are to come count as idle
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "decision", tc.want, decided(Decide(tc.q)))
		})
	}
}

// FuzzCopies holds the decision of copies to that of a fleet that divides as many replicas: its recommendation, spread to all copies.
func FuzzCopies(f *testing.F) {
	for seed := range fleettest.Rounds(seeds, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		q := randomQuestion(r)
		q.Scale.Replicas = r.Int32N(12) + 1
		q.Spec.MaxReplicas = 1 << 20
		if seed%2 == 0 {
			q = hidden(r, q)
		}
		fleet := q
		q.Copies = len(q.Clusters)
		fleet.Scale.Replicas *= int32(q.Copies)
		got, want := Decide(q), Decide(fleet)
		if (got.Err == nil) != (want.Err == nil) {
			t.Fatalf("error %v, of a fleet that divides %v", got.Err, want.Err)
		}
		if got.Err != nil {
			return
		}
		each := int32(math.Ceil(float64(want.Explanation.Recommended) / float64(q.Copies)))
		if got.Explanation.Recommended != each {
			t.Errorf("%d recommended for each of %d, and %d for all", got.Explanation.Recommended, q.Copies, want.Explanation.Recommended)
		}
		if got.Explanation.Held && !want.Explanation.Held {
			t.Error("held, and of a fleet that divides not")
		}
		if least := q.minReplicas(); got.Replicas < least || got.Replicas > q.Spec.MaxReplicas {
			t.Errorf("%d replicas, outside %d-%d", got.Replicas, least, q.Spec.MaxReplicas)
		}
	})
}

// FuzzCopiesSettle holds that under a load that stays the copies come to a number that stays, within bounds, and that carries the load.
func FuzzCopiesSettle(f *testing.F) {
	for seed := range fleettest.Rounds(seeds/10, 5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		copies, load := r.IntN(6)+1, r.Int64N(30_000)+1 // in percent of one Pod
		least := r.Int32N(4) + 1
		most := least + r.Int32N(30)
		n, state, status := r.Int32N(40)+1, State{Recommendations: []Recommendation{}}, autoscalingv2.HorizontalPodAutoscalerStatus{}
		var last []int32
		for step := range 60 {
			var clusters []Cluster
			for i := range copies {
				clusters = append(clusters, cluster(fmt.Sprintf("member-%d", i), int(n), assigned(n)))
			}
			q := ask(n, clusters...)
			q.Copies, q.Scale.StatusReplicas, q.State, q.Status = copies, n*int32(copies), state, status
			q.Spec.MinReplicas, q.Spec.MaxReplicas = &least, most
			q.Spec.Metrics = []autoscalingv2.MetricSpec{amountOf(corev1.ResourceCPU, "250m")}
			q.Now = start.Add(time.Duration(step) * time.Minute)
			q.Metrics[0].Pods = map[string]map[string]Sample{}
			for _, c := range clusters {
				samples := map[string]Sample{}
				for _, p := range c.Pods {
					samples[p.Name] = Sample{Value: 5 * load / int64(n) / int64(copies), At: q.Now, Window: 15 * time.Second}
				}
				q.Metrics[0].Pods[c.Name] = samples
			}
			d := Decide(q)
			if d.Rescale {
				d = d.Scaled(q.Now)
			}
			n, state, status = d.Replicas, d.State, d.Status
			if n < least || n > most {
				t.Fatalf("%d replicas, outside %d-%d", n, least, most)
			}
			if step >= 30 { // windows and policies are over
				last = append(last, n)
			}
		}
		for _, other := range last {
			if other != last[0] {
				t.Fatalf("%d copies under a load of %d: %v", copies, load, last)
			}
		}
		if use := load / int64(n) / int64(copies); n < most && use > 55 {
			t.Errorf("%d replicas in each of %d clusters use %d %%", n, copies, use)
		}
	})
}

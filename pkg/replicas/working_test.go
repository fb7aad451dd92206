// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"math/rand/v2"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// A decision made again of what an earlier one was told is the same, in every number.
func FuzzTold(f *testing.F) {
	for seed := range fleettest.Rounds(seeds, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := randomQuestion(r)
		if r.IntN(2) == 0 {
			q = hidden(r, q)
		}
		want := Decide(q)
		retold := want.Retold(&q)
		same(t, "decision", want, Decide(retold), ignoringPlan)
		spec := *q.Spec.DeepCopy()
		retarget(r, &spec.Metrics[0])
		m, err := retold.Metrics[0].Retarget(&spec.Metrics[0], &q.Spec.Metrics[0])
		if err != nil {
			if retold.Metrics[0].Told.Err == nil {
				t.Error(err)
			}
			return
		}
		q.Spec, retold.Spec, retold.Metrics[0] = spec, spec, m
		got, want := Decide(retold), Decide(q)
		if m.Told != nil && spec.Metrics[0].Resource != nil && spec.Metrics[0].Resource.Target.AverageValue != nil {
			for i := range got.Explanation.Metrics { // sums of utilizations say more
				got.Explanation.Metrics[i], want.Explanation.Metrics[i] = Proposal{}, Proposal{}
			}
		}
		same(t, "decision by another target", want, got, ignoringPlan)
	})
}

// retarget gives a metric another target, of a kind that its sums tell.
func retarget(r *rand.Rand, m *autoscalingv2.MetricSpec) {
	milli := resource.NewMilliQuantity(r.Int64N(3000)+1, resource.DecimalSI)
	switch {
	case m.Resource != nil && r.IntN(4) == 0:
		m.Resource.Target = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: milli}
	case m.Resource != nil:
		m.Resource.Target.AverageUtilization = new(r.Int32N(200) + 1)
	case m.Pods != nil:
		m.Pods.Target.AverageValue = milli
	case m.External.Target.Value != nil:
		m.External.Target.Value = milli
	default:
		m.External.Target.AverageValue = milli
	}
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

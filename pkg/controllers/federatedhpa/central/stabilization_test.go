// SPDX-License-Identifier: Apache-2.0

package central

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// What is stored, by the rule that says when it need be, and recalled by a new leader at any moment, makes it decide as the
// old one would have: a leader that has seen everything goes beside one that begins again at every sync. The exceptions are
// those of recall: what was last recommended may count for longer than it should, and then keeps the replicas as they are.
func TestALeaderRecallsWhatMatters(t *testing.T) {
	decided, held, writes := 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		o := replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1}
		spec := federatedhpatest.RandomSpec(r)
		now, current, known, stored := start, int32(10), replicas.State{}, (*v1alpha1.StabilizationStatus)(nil)
		wanted := int64(10)
		for step := range 150 {
			now = now.Add(period)
			if r.IntN(6) == 0 {
				wanted = r.Int64N(40)
			}
			ask := func(s replicas.State) replicas.Decision {
				return replicas.Decide(replicas.Question{
					Namespace: "shop", Spec: spec, Scale: replicas.Scale{Replicas: current, StatusReplicas: current, Selector: "app=web"},
					Metrics: []replicas.Metric{{Values: []int64{wanted * 1000}}}, State: s, Options: o, Now: now,
				})
			}
			old := ask(known)
			again := ask(recall(federatedhpatest.ThroughJSON(t, stored), current, now))
			decided++
			if stored != nil && old.Replicas != again.Replicas {
				held++
				if again.Replicas != current && (again.Replicas > current) != (old.Replicas > current) ||
					away(again.Replicas, current) > away(old.Replicas, current) {
					t.Fatalf("seed %d, step %d: from %d replicas, where %d are wanted, a new leader goes to %d, and the old one to %d\nit recalls "+
						"%+v\nof %+v\n%+v",
						seed, step, current, wanted, again.Replicas, old.Replicas, stored, known, spec.Behavior)
				}
			}
			if old.Rescale {
				old = old.Scaled(now)
			}
			known, current = old.State, old.Replicas
			fresh := known.Memory(&spec, o, now)
			if !remembers(stored, fresh) {
				stored = federatedhpatest.ThroughJSON(t, fresh)
				writes++
			}
			if r.IntN(40) == 0 {
				current = max(1, r.Int32N(30)) // by hand
			}
		}
	}
	t.Logf("of %d decisions %d differ; %d writes", decided, held, writes)
	if held*20 > decided {
		t.Errorf("of %d decisions %d differ", decided, held)
	}
	if writes*3 > decided {
		t.Errorf("%d decisions took %d writes", decided, writes)
	}
}

func away(a, b int32) int32 { return max(a-b, b-a) }
